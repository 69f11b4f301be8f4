"""English names of languages."""

LANGUAGE_NAMES = {
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fi": "Finnish",
    "fr": "French",
    "hu": "Hungarian",
    "it": "Italian",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sv": "Swedish",
    "tr": "Turkish",
    "uk": "Ukrainian",
}


def language_name(code: str) -> str:
    """Returns the name of a language by its two-letter code, or the code of one not listed."""
    return LANGUAGE_NAMES.get(code, code)
