"""Averaging over graphs: how probable each is, summed over all or sampled."""
