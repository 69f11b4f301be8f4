"""Greedy search and beam search, and the engines that run them."""
