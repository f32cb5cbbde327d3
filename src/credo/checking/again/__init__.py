"""Rows judged by models that have not seen them: folds, learning again, generated tables."""
