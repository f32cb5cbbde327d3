"""Answers averaged over graphs and their parameters."""
