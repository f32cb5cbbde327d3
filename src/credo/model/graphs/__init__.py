"""Graphs: directed and undirected, what they say, how far apart two of them are."""
