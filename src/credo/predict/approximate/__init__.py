"""Answers by samples and messages, with their error."""
