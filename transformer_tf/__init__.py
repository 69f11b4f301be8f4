"""A Transformer translator to read, train and use, in Keras 3."""
