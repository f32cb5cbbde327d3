"""Clusters: rows of a table in groups, by distance, by a graph, or by a mixture."""
