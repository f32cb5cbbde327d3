"""Rows drawn from a model."""
