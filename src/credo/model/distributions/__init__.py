"""Distributions and what is believed of their parameters."""
