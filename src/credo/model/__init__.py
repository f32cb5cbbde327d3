"""STEP 1 of the recipe: models as frozen values, a room for each kind."""
