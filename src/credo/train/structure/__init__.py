"""Searches over structures, one file each; all ask one cache of family scores."""
