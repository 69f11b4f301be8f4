import pytest

from transformer_tf.text.corpora.phrasebook import load_phrasebook
from transformer_tf.utils.languages import (
    LANGUAGES,
    common_words,
    guess_language,
    language_code,
    language_name,
    three_letter_code,
)

SPOKEN = [code for code, language in LANGUAGES.items() if language.common_words]


def test_names_and_codes_of_languages():
    assert (language_name("de"), three_letter_code("de")) == ("German", "deu")
    spellings = ("de", "DE", "de-DE", "de_at", "deu", "German")
    assert [language_code(each) for each in spellings] == ["de"] * len(spellings)
    norwegian = [language_code(each) for each in ("no", "nb", "nob", "nb-NO", "Norwegian")]
    assert norwegian == ["no"] * 5
    assert (language_name("xxx"), three_letter_code("xxx")) == ("xxx", "xxx")


@pytest.mark.parametrize(("side", "code"), [(0, "en"), (1, "de")])
def test_the_language_of_a_column(side, code):
    texts = [(phrase.source, phrase.target)[side] for phrase in load_phrasebook()[::100]]
    assert guess_language(texts, code) == code
    assert guess_language(texts, "fr") == code
    assert guess_language(texts, "ja") == "ja"  # its common words are not listed
    assert guess_language(texts[:1], "fr") == "fr"  # too few words


@pytest.mark.parametrize("code", SPOKEN)
def test_each_language_has_its_own_common_words(code):
    words = common_words(code)
    assert len(words) == len(set(words)) == 12
    assert guess_language(50 * words, "en") == code
