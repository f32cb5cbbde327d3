"""Markov networks and factor graphs: products of factors."""
