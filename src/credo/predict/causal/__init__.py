"""What an intervention does: identified from a graph, and estimated with its uncertainty."""
