"""Bayesian networks: a graph, one distribution for each variable, and their priors."""
