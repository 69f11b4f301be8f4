"""Small helpers: atomic file writes, text tables, the start of a command."""
