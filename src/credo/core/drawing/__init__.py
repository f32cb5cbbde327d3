"""A graph as a picture in text, SVG or DOT: where boxes and edges lie, and how they are written."""
