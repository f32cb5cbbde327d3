"""A question and its evidence, read and checked, and what is to be said beside an answer."""
