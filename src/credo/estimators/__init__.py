"""Front doors with scikit-learn's protocol: thin, over frozen models."""
