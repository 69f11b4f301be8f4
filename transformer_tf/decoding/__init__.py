"""Greedy search, sampling and beam search, and the engines that run them."""
