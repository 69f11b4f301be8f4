"""English names of languages, and their most common words."""

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

# The most common words of each language: enough to recognize it in a few dozen sentences.
COMMON_WORDS = {
    code: words.split()
    for code, words in {
        "cs": "je se to na že jsem si jsi v co tak ale",
        "da": "og det er jeg ikke en at du på til har der",
        "de": "der die und das ist nicht ich zu den ein es er",
        "en": "the and is of to you that it in was not he",
        "es": "el la de que y los no un una es por en",
        "fi": "on ja ei se oli että hän minä ole tämä mutta olen",
        "fr": "le la les et est des une que je pas vous il",
        "hu": "a az és nem hogy van egy ez meg is volt de",
        "it": "il che di e è la non un una per sono ho",
        "nl": "de het een en van ik niet dat je is zijn hij",
        "pl": "nie się jest to w na że i z jak czy ja",
        "pt": "o a que não de um uma é os do eu ele",
        "ro": "nu să este și un o în la că pe cu am",
        "ru": "и в не на я что он это с как ты у",
        "sv": "och att det är jag en som inte på för den har",
        "tr": "bir ve bu o ne için ben çok var değil mi da",
        "uk": "і в не на я що він це з як ти у",
    }.items()
}


def language_name(code: str) -> str:
    """Returns the name of a language by its two-letter code, or the code of one not listed."""
    return LANGUAGE_NAMES.get(code, code)
