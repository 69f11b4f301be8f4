"""Programs that make files of the package; not part of it."""
