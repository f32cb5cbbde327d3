"""A decision network gives an answer: what to do, how sure that is, what is worth knowing."""
