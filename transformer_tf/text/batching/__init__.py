"""Sentence pairs to padded batches of ids."""
