"""Effects from rows: the distribution that a formula needs is learned, then asked."""
