"""Whole tables through a model: predictions, likelihoods, imputed cells."""
