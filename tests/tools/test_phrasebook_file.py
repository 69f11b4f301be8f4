"""The phrasebook file of the package against the grammar that makes it."""

import gzip

import pytest

from tools.phrasebook.__main__ import FILE, phrasebook_text
from transformer_tf.text.corpora.phrasebook import load_phrasebook


@pytest.mark.slow
def test_the_grammar_makes_exactly_the_file_of_the_package():
    assert gzip.decompress(FILE.read_bytes()).decode() == phrasebook_text()


def test_every_sure_link_is_possible_and_names_words_of_its_pair():
    phrases = load_phrasebook()

    assert len(phrases) == 24_000
    for phrase in phrases:
        assert phrase.sure and phrase.sure <= phrase.possible
        assert max(source for source, _ in phrase.possible) < len(phrase.source.split()) * 2
