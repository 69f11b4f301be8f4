"""The attention scores of a translation: views of them, word alignments, and a page to explore."""
