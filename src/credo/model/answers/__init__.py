"""What questions give back: distributions, mixtures and intervals, each with its account."""
