"""Tests of conditional independence, and of why cells are missing."""
