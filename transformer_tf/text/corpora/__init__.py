"""Turns a named corpus, or files, into clean sentence pairs in three splits."""
