"""The batches of the article."""

BATCH_SIZE = 64
LENGTH = 42
"""40 sub-words, start and end."""
