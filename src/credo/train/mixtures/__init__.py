"""Learning mixtures: expectation and maximisation, starts, and how many classes there are."""
