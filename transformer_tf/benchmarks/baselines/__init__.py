"""What the training is measured against: the article's loop, and PyTorch."""
