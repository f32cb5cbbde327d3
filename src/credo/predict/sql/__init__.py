"""Models as SQL: one SELECT that gives P(each state of a variable | the row), in four dialects."""
