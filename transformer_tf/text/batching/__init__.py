"""Turns sentence pairs into padded batches of ids."""
