"""Everything before and after the model: sentence pairs, sub-words, batches."""
