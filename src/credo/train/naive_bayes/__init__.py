"""Naive Bayes and its kin from statistics by class."""
