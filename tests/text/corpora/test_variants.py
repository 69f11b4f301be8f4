import re

import pytest

from transformer_tf.text import symbols
from transformer_tf.text.corpora.cleaning import fold
from transformer_tf.text.corpora.pairs import PairWriter
from transformer_tf.text.corpora.variants import VariantMaker, shared_numbers, with_variants

PAIRS = [
    ("Tom lives in Boston.", "Tom wohnt in Boston."),
    ("Tom's dog is old.", "Toms Hund ist alt."),
    ("I don't know her.", "Ich kenne sie nicht."),
    ("In 1989 we had 25 cats.", "Im Jahr 1989 hatten wir 25 Katzen."),
    ("We start at 9:30!", "Wir beginnen um 9:30 Uhr!"),
    ("She has 1 brother.", "Sie hat 1 Bruder."),
    ("the hotel is big", "das Hotel ist groß"),
]


def stored(directory, pairs, weight=1.0):
    with PairWriter(directory) as writer:
        for pair in pairs:
            writer.add(pair, weight)
        return writer.finish()


@pytest.fixture
def maker():
    return VariantMaker(PAIRS, seed=0)


def several(kind, count=200):
    return [variant for variant in (kind() for _ in range(count)) if variant is not None]


def test_a_respelt_source_keeps_its_translation(maker):
    answers = dict(PAIRS)
    seen = set()
    for source, target in several(maker.respell):
        original = next(s for s, t in PAIRS if t == target)
        assert source != original
        assert fold(source).replace("'", "") == fold(original).replace("'", "")
        assert answers[original] == target
        seen.add(source)
    assert {"tom lives in boston", "Tom lives in Boston", "i dont know her"} <= seen


def test_a_misspelt_source_differs_in_one_word_that_is_no_name(maker):
    seen = set()
    for source, target in several(maker.misspell):
        original = next(s for s, t in PAIRS if t == target)
        wrong = [(a, b) for a, b in zip(original.split(), source.split(), strict=True) if a != b]
        assert len(wrong) == 1
        assert wrong[0][0] not in ("Tom", "Boston.", "In", "25")
        assert set(wrong[0][1]) <= set(wrong[0][0])
        seen.add(wrong[0][1])
    assert {"livse", "lies", "livves"} & seen and len(seen) > 15


def test_joined_pairs_have_the_same_order_on_both_sides(maker):
    for source, target in several(maker.join):
        rest, other = source, target
        for _ in range(4):
            for a, b in PAIRS:
                if rest.startswith(a) and other.startswith(b):
                    rest, other = rest[len(a) :].strip(), other[len(b) :].strip()
        assert (rest, other) == ("", "")


@pytest.mark.parametrize("kind", ["rename", "address"])
def test_a_name_is_replaced_alike_on_both_sides(maker, kind):
    variants = several(getattr(maker, kind))
    assert len({source for source, _ in variants}) > 20
    for source, target in variants:
        # Never the sentence with a genitive, and never "hotel", which is in lower case in English.
        match = re.fullmatch(r"(\S+) lives in (\S+?)\.", source)
        assert target == f"{match[1]} wohnt in {match[2]}."
        assert (match[1] == "Tom") != (match[2] == "Boston")
    if kind == "rename":
        assert all(
            re.fullmatch(r"[A-Z][a-z]+", name) for name in {s.split()[0] for s, _ in variants}
        )


def test_numbers_change_alike(maker):
    for source, target in several(maker.renumber):
        numbers = re.findall(r"\d+(?::\d+)?", source)
        assert numbers == re.findall(r"\d+(?::\d+)?", target)
        assert "1" not in numbers  # "1 cats"
        if ":" in numbers[0]:
            hour, minute = map(int, numbers[0].split(":"))
            assert hour < 24 and minute < 60


def test_numbers_that_both_sides_share():
    assert shared_numbers("3 of 12, 3", "3 von 12, 3") == ["12", "3"]
    assert shared_numbers("1.5 km", "1,5 km") == []
    assert shared_numbers("1 of 2", "1 von 2") == []
    assert shared_numbers("none", "keine") == []


def test_pairs_come_first_then_as_many_variants_as_wanted(tmp_path):
    pairs = stored(tmp_path, PAIRS)
    found = list(with_variants(pairs, [], 3.0, seed=1, directory=tmp_path))
    assert found[: len(PAIRS)] == PAIRS
    assert len(found) == 4 * len(PAIRS)
    assert found == list(with_variants(pairs, [], 3.0, seed=1, directory=tmp_path))
    assert found != list(with_variants(pairs, [], 3.0, seed=2, directory=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_no_variant_has_a_held_out_sentence(tmp_path):
    # Without held-out pairs, each of these variants is made.
    held_out = [("i know HER", "x"), ("y", "wir haben 7 katzen")]
    pairs = [("I know her.", "Ich kenne sie."), ("We have 7 cats.", "Wir haben 7 Katzen.")]
    pairs = stored(tmp_path, pairs)
    found = list(with_variants(pairs, held_out, 200.0, seed=0, directory=tmp_path))[2:]
    assert len(found) > 100
    free = list(with_variants(pairs, [], 200.0, seed=0, directory=tmp_path))[2:]
    for side, sentence in (0, held_out[0][0]), (1, held_out[1][1]):
        assert fold(sentence) in {fold(pair[side]) for pair in free}
    assert not {fold(source) for source, _ in found} & {fold(source) for source, _ in held_out}
    assert not {fold(target) for _, target in found} & {fold(target) for _, target in held_out}


def test_pairs_without_variants(tmp_path, monkeypatch):
    """The search for variants ends after a fixed number of trials."""
    monkeypatch.setattr(VariantMaker, "draw", lambda self: None)
    pairs = stored(tmp_path, PAIRS)
    assert list(with_variants(pairs, [], 5.0, seed=0, directory=tmp_path)) == PAIRS


def test_tagged_pairs_have_no_variants_and_weights_stay(tmp_path):
    tagged = [(f"{symbols.TAGS[0]} {source}", target) for source, target in PAIRS]
    pairs = stored(tmp_path, [*PAIRS, *tagged], weight=0.5)
    found = with_variants(pairs, [], 2.0, seed=1, directory=tmp_path)
    assert list(found[: 2 * len(PAIRS)]) == [*PAIRS, *tagged]
    assert found.weights.tolist() == 2 * len(PAIRS) * [0.5] + 2 * len(PAIRS) * [1.0]
    variants = found[2 * len(PAIRS) :]
    assert not any(symbols.TAGS[0] in source for source, _ in variants)
