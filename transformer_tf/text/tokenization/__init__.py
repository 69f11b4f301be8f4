"""Converts text to sub-word ids and back."""
