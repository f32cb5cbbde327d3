"""Rows out: to frames and to files."""
