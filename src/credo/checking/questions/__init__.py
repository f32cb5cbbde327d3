"""Beyond a check: what changes an answer, what is worth knowing, which model is better."""
