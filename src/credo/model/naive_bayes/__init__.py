"""Naive Bayes models: features that are independent once the class is known."""
