"""Scores of translations and translators."""
