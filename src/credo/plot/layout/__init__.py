"""Where the boxes and edges of a graph lie."""
