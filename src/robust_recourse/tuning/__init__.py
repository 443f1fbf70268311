"""Settings that keep a promised future validity."""
