"""Decisions and what they are worth: decision networks, utilities, policies; frozen values."""
