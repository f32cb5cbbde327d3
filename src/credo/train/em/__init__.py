"""Expectation and maximisation for networks."""
