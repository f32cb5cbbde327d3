"""From the cells of a column to its kind, its states and its codes."""
