"""Scores of families and graphs, behind one cache."""
