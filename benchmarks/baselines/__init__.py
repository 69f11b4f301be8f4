"""Baselines: the article's training loop, PyTorch, and the tutorial's translation loop."""
