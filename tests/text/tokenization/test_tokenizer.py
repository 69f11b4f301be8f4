import tempfile
from pathlib import Path

import pytest
from bpemb import BPEmb

from transformer_tf.errors import ConfigError, DataError
from transformer_tf.text import symbols
from transformer_tf.text.tokenization import tokenizer as tokenizer_module
from transformer_tf.text.tokenization.tokenizer import (
    Tokenizer,
    auto_vocab_size,
    training_sentences,
)

SENTENCES = [
    f"{name} kauft {number} {thing} für {number + 3} Euro in Überlingen."
    for name in ("Anna", "Jürgen", "Peter", "Frau Groß")
    for number in range(0, 90, 7)
    for thing in ("Äpfel", "Brötchen", "Bücher", "Straßenbahnkarten")
]
DATA = Path(__file__).parents[4] / "shared" / "data"


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    path = tmp_path_factory.mktemp("tokenizer") / "de.model"
    return Tokenizer.train(SENTENCES, vocab_size=350, model_file=path)


def test_ids_of_the_vocabulary(tokenizer):
    assert tokenizer.pad_id == 0
    assert tokenizer.vocab_size == 352
    assert (tokenizer.start_id, tokenizer.end_id) == (350, 351)
    ids = tokenizer.encode("Anna kauft 25 Bücher.")
    assert all(2 <= i < 350 for i in ids)
    assert tokenizer.encode_sentence("Anna kauft 25 Bücher.") == [350, *ids, 351]


@pytest.mark.parametrize(
    "text",
    [
        "Anna kauft 25 Bücher.",
        "jürgen KAUFT 1024 Straßenbahnkarten!",
        "Ein nie gesehenes Wort: Quizzyx",
        "Ich mag 🍕 und 中文, Ελληνικά, עברית.",
        "½ … „Zitat“ – e\u0301 <s> </s> <unk> <pad>",
    ],
)
def test_any_text_round_trips(tokenizer, text):
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert tokenizer.unk_id not in ids
    assert tokenizer.pad_id not in ids


def test_each_digit_is_a_sub_word(tokenizer):
    assert [t for t in tokenizer.tokens(tokenizer.encode("77")) if t != "▁"] == ["7", "7"]


def test_the_same_sentences_make_the_same_model(tokenizer, tmp_path):
    again = Tokenizer.train(SENTENCES, vocab_size=350, model_file=tmp_path / "again.model")
    assert again.content == tokenizer.content
    assert tempfile.gettempdir().encode() not in again.content


def test_a_space_is_read_after_opening_marks(tmp_path):
    tokenizer = Tokenizer.train(
        [*SENTENCES, *["¡Anna! ¿Peter?"] * 9], vocab_size=360, model_file=tmp_path / "es.model"
    )
    assert tokenizer.space_after_opening_marks
    text = "¡Anna kauft! ¿Peter? ¡¿Jürgen?!"
    ids = tokenizer.encode(text)
    assert set(tokenizer.encode("Anna Peter Jürgen")) <= {*ids}
    assert tokenizer.decode(ids) == text
    assert tokenizer.decode(tokenizer.encode("¡ Anna ¿")) == "¡Anna ¿"
    for labels in (tokenizer.pieces(text), tokenizer.tokens(ids)):
        assert "".join(labels).replace("▁", " ").strip() == text
    slot = symbols.SLOTS[0]  # a value that ends with a mark is no mark
    labels = tokenizer.pieces(f"Anna {slot} Peter", {slot: "x¿"})
    assert "".join(labels).replace("▁", " ").strip() == "Anna x¿ Peter"


def test_without_opening_marks_in_the_vocabulary_no_space_is_read(tokenizer):
    assert not tokenizer.space_after_opening_marks
    for text in ("¡Anna!", "¡ Anna ¿"):
        assert tokenizer.decode(tokenizer.encode(text)) == text
    assert len([label for label in tokenizer.pieces("¡Anna!") if "▁" in label]) == 1


def test_specials_are_labeled_and_not_decoded(tokenizer):
    sentence = tokenizer.encode_sentence("Anna")
    labels = tokenizer.tokens([*sentence, tokenizer.pad_id, tokenizer.unk_id])
    assert labels[0] == "<start>"
    assert labels[-3:] == ["<end>", "<pad>", "<unk>"]
    assert "".join(labels[1:-3]) == "▁Anna"
    assert tokenizer.decode([*sentence, 0, 0]) == "Anna"
    assert tokenizer.decode([]) == ""


def test_many_sentences_at_once(tokenizer):
    assert tokenizer.encode_sentences(SENTENCES) == [
        [350, *tokenizer.encode(sentence), 351] for sentence in SENTENCES
    ]
    assert tokenizer.encode_sentences([]) == []
    lowercase = Tokenizer(tokenizer.model_file, lowercase=True)
    assert lowercase.encode("ANNA KAUFT 25") == tokenizer.encode("anna kauft 00")


@pytest.mark.parametrize("lowercase", [False, True])
def test_save_and_load(tokenizer, tmp_path, lowercase):
    original = Tokenizer(tokenizer.model_file, lowercase)
    original.save(tmp_path / "new" / "target.model")
    copy = Tokenizer.load(tmp_path / "new" / "target.model")
    assert copy.encode(SENTENCES[5]) == original.encode(SENTENCES[5])
    assert copy.fingerprint == original.fingerprint
    assert len(list((tmp_path / "new").iterdir())) == 2


def test_different_tokenizers_have_different_fingerprints(tokenizer, tmp_path):
    other = Tokenizer.train(SENTENCES, 340, tmp_path / "other.model")
    lowercase = Tokenizer(tokenizer.model_file, lowercase=True)
    assert len({tokenizer.fingerprint, other.fingerprint, lowercase.fingerprint}) == 3


def test_a_damaged_model_is_named(tokenizer, tmp_path):
    path = tmp_path / "source.model"
    for content in (None, b"not a model", b""):
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(DataError, match="source.model"):
            Tokenizer(path)
    with pytest.raises(DataError, match="source.json"):
        Tokenizer.load(path)
    tokenizer.save(path)
    Tokenizer.train(SENTENCES, 340, path)
    with pytest.raises(DataError, match="source.model"):
        Tokenizer.load(path)
    (tmp_path / "source.json").write_text("{")
    with pytest.raises(DataError, match="source.json"):
        Tokenizer.load(path)


def test_at_most_a_million_training_sentences(monkeypatch):
    pairs = [(f"source {n}", f"target {n}") for n in range(10)]
    assert list(training_sentences(pairs, 1)) == [target for _, target in pairs]
    monkeypatch.setattr(tokenizer_module, "MAX_TRAINING_SENTENCES", 4)
    assert list(training_sentences(pairs, 0)) == ["source 0", "source 3", "source 6", "source 9"]
    assert list(training_sentences([], 0)) == []


def test_unknown_language_or_size_of_the_official_models(tmp_path):
    with pytest.raises(ConfigError, match="vocab_size=1234.* 10000"):
        Tokenizer.official("en", 1234, tmp_path)
    with pytest.raises(ConfigError, match="'xx'"):
        Tokenizer.official("xx", 10000, tmp_path)


@pytest.mark.parametrize("language", ["sw", "multi"])
def test_an_official_model_is_downloaded_once(tokenizer, tmp_path, monkeypatch, language):
    """The multilingual models are in another folder of the server."""
    urls = []

    def fetch(name, url, directory, known_hash):
        urls.append(url)
        path = directory / name
        path.parent.mkdir(parents=True)
        path.write_bytes(tokenizer.content)
        return path

    monkeypatch.setattr("transformer_tf.text.corpora.download.fetch", fetch)
    vocab_size = max(BPEmb.available_vocab_sizes(language))
    official = Tokenizer.official(language, vocab_size, tmp_path)
    server = (
        "https://bpemb.h-its.org/multi" if language == "multi" else "https://nlp.h-its.org/bpemb"
    )
    assert urls == [f"{server}/{language}/{language}.wiki.bpe.vs{vocab_size}.model"]
    text = "ANNA kauft 25 ① ２ Äpfel"
    assert official.encode(text) == tokenizer.encode(BPEmb.preprocess(text))


def test_the_official_english_model():
    if not (DATA / "bpemb").is_dir():
        pytest.skip(f"needs the official model under {DATA / 'bpemb'}")
    tokenizer = Tokenizer.official("en", 10000, DATA)
    assert tokenizer.vocab_size == 10002  # the article's
    assert (tokenizer.start_id, tokenizer.end_id) == (10000, 10001)
    ids = tokenizer.encode("He is 25 years old.")
    assert tokenizer.decode(ids) == "he is 00 years old."
    unknown = tokenizer.encode("☃")
    assert tokenizer.unk_id in unknown  # and not padding, as in the article
    assert tokenizer.pad_id not in unknown


def test_a_reserved_character_is_one_sub_word(tokenizer):
    slot, tag = symbols.SLOTS[0], symbols.TAGS[0]
    ids = tokenizer.encode(f"{tag} Anna kauft {slot}.")
    plain = tokenizer.encode("Anna kauft .")
    assert len(ids) == len(plain) + 3  # "▁", the tag and the placeholder
    assert tokenizer.decode(ids) == f"{tag} Anna kauft {slot}."
    indices = [tokenizer.processor.piece_to_id(character) for character in symbols.RESERVED]
    assert len(set(indices)) == 16 and 0 not in indices


def test_reserved_characters_have_readable_labels(tokenizer, tmp_path):
    tagged = Tokenizer(tokenizer.model_file, tags=["bt"])
    tagged.save(tmp_path / "source.model")
    copy = Tokenizer.load(tmp_path / "source.model")
    text = f"{symbols.TAGS[0]} Anna {symbols.SLOTS[1]} {symbols.TAGS[1]}"
    for labels in (copy.pieces(text), copy.tokens(copy.encode(text))):
        assert [label for label in labels if label.startswith("<")] == ["<bt>", "<2>", "<tag2>"]


def test_the_vocabulary_grows_with_the_corpus():
    sizes = [auto_vocab_size(pairs) for pairs in (1, 10_000, 100_000, 400_000, 10**8)]
    assert sizes == [2000, 2500, 8000, 16_000, 32_000]


def test_fewer_pieces_than_asked_for(tmp_path):
    with pytest.raises(ConfigError, match="tokenizer.vocab_size=5000") as error:
        Tokenizer.train(SENTENCES, 5000, tmp_path / "a.model")
    assert "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())
    smaller = Tokenizer.train(SENTENCES, 5000, tmp_path / "b.model", exact=False)
    assert 352 < smaller.vocab_size < 5000
    assert smaller.decode(smaller.encode(SENTENCES[0])) == SENTENCES[0]


def test_bytes_that_spell_no_character_are_left_out(checkpoint):
    tokenizer = Tokenizer.load(checkpoint / "tokenizers" / "target.model")
    byte = tokenizer.processor.piece_to_id
    ids = [*tokenizer.encode("ä"), byte("<0xC3>"), byte("<0xF0>"), byte("<0x9F>")]
    assert tokenizer.decode([*ids, *tokenizer.encode("b")]) == "ä b"
