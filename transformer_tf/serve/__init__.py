"""Translators over HTTP, in LibreTranslate's shapes."""
