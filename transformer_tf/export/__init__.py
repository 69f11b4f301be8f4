"""Exports of a trained translator to the formats of other engines."""
