"""Hypothesis spaces: beliefs, observations, predictions."""
