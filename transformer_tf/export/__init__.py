"""A trained translator in the formats of other engines."""
