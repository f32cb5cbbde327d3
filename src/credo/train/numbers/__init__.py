"""Numbers as they are: where to cut them into intervals."""
