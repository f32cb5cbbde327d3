"""Graphs with hidden common causes, and formulas of what an intervention does."""
