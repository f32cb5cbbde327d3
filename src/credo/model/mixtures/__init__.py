"""Mixtures: rows of one of k classes that nobody saw."""
