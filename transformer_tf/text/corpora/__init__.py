"""A corpus, by name or by file, to clean sentence pairs in three splits."""
