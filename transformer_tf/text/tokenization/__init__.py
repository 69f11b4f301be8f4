"""Text to sub-word ids and back."""
