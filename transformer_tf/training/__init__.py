"""§5 of "Attention Is All You Need": how the model is trained."""
