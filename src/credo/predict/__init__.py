"""STEP 3 of the recipe: a model and evidence give an answer."""
