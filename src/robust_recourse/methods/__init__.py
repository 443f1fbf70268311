"""The recourse methods, one file each."""
