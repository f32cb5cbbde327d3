"""Exact answers: one compiled plan."""
