"""Exact answers about networks with continuous variables."""
