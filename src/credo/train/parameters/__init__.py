"""Parameters of a known graph from statistics."""
