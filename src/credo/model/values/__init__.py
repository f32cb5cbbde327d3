"""What every value shares: checked numbers and probabilities, data given to it, its record."""
