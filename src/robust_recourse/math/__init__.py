"""Arrays in, arrays out: no randomness, no files, no models."""
