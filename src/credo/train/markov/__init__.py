"""Parameters of Markov networks."""
