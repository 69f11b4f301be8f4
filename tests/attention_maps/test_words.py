import numpy as np
import pytest

from transformer_tf.attention_maps.words import (
    group_words,
    label_steps,
    label_tokens,
    merge_words,
    write_word,
)
from transformer_tf.text.normalization import normalize_text


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (["▁Gar", "dens", "▁grow", "."], ["Gardens", "grow."]),
        (["<start>", "▁Gar", "dens", "<end>"], ["<start>", "Gardens", "<end>"]),
        (["▁", "Ω", "▁x"], ["Ω", "x"]),  # a mark by itself belongs to what follows
        (["▁x", "▁", "<end>"], ["x", "<end>"]),
        (["▁", "<0xC3>", "<0xA4>", "h"], ["äh"]),
        (["▁a", "<unk>", "b"], ["a", "<unk>", "b"]),  # written as "a ⁇ b"
        (["▁", "<0xC3>"], ["�"]),  # half a character
        (["▁"], ["▁"]),
        (["▁x", "▁¡", "", "¿"], ["x", "¡¿"]),  # the "▁" after an opening mark is no label
        ([""], ["▁"]),
        ([], []),
    ],
)
def test_sub_words_are_joined(tokens, words):
    groups = group_words(tokens)
    assert [i for group in groups for i in group] == list(range(len(tokens)))
    assert [write_word([tokens[i] for i in group]) for group in groups] == words


def test_as_many_words_as_the_text_has(checkpoint):
    """Random ids have as many word groups as their text has words."""
    from transformer_tf.translator import Translator

    tokenizer = Translator.load(checkpoint).target_tokenizer
    random = np.random.default_rng(0)
    size = tokenizer.start_id
    # Normalization removes control characters, sometimes a whole word.
    control = {f"<0x{byte:02X}>" for byte in (*range(32), 127)} - {"<0x0A>", "<0x09>"}
    for _ in range(300):
        ids = random.integers(2, size, random.integers(1, 12)).tolist()
        tokens = tokenizer.tokens(ids)
        text = normalize_text(tokenizer.decode(ids))
        if control & set(tokens) or not text or "\ufffd" in tokenizer.processor.decode_ids(ids):
            continue
        assert len(group_words(tokens)) == len(text.split()), (tokens, text)


def test_rows_of_tokens_keep_the_bytes_of_a_character_together():
    tokens = ["<start>", "▁Gar", "dens", "<0xF0>", "<0x9F>", "<0x8D>", "<0x95>", "<0xC3>", "h"]
    groups, labels = label_tokens(tokens, words=False, special=False)
    assert groups == [[1], [2], [3, 4, 5, 6], [7], [8]]
    assert labels == ["Gar", "dens", "🍕", "�", "h"]


@pytest.mark.parametrize(
    ("by_read", "rows"),
    [
        (False, {"<start> ▸ Gärten": [0, 1], "Gärten ▸ wachsen.": [2, 3]}),
        (True, {"Gärten ▸ wachsen.": [1, 2], "wachsen. ▸ <end>": [3, 4]}),
    ],
)
def test_rows_of_the_decoder_say_what_is_read_and_what_is_chosen(by_read, rows):
    said = ["▁Gär", "ten", "▁wachsen", ".", "<end>"]
    read = ["<start>", *said[:-1]]
    groups, labels = label_steps(read, said, words=True, special=False, by_read=by_read)
    assert dict(zip(labels, groups, strict=True)) == rows


def test_merged_by_hand():
    scores = np.array([[0.1, 0.2, 0.7], [0.3, 0.4, 0.3]])
    merged = merge_words(scores, [[0, 1]], [[0, 1], [2]])
    np.testing.assert_allclose(merged, [[0.5, 0.5]])  # (0.3 + 0.7) / 2, (0.7 + 0.3) / 2


def test_merged_weights_still_add_up_to_one(random):
    scores = random.dirichlet(np.ones(7), size=(2, 3, 5))
    merged = merge_words(scores, [[0], [1, 2], [3, 4]], [[0, 1, 2], [3], [4, 5], [6]])
    assert merged.shape == (2, 3, 3, 4)
    np.testing.assert_allclose(merged.sum(axis=-1), 1)
