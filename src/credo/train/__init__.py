"""STEP 2 of the recipe: from statistics to a model. The names load when they are first used."""
