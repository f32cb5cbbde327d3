"""STEP 2 of the recipe: from statistics to a model, a room for each kind of learning."""
