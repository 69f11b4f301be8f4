import re
import sys
from pathlib import Path

import pytest

from tools.augmentation import Augmenter, augment, main
from transformer_tf.config import load_config
from transformer_tf.text.corpora.cleaning import fold
from transformer_tf.text.corpora.corpus import load_corpus
from transformer_tf.utils.lines import read_lines

PAIRS = [
    ("Tom lives in Boston.", "Tom wohnt in Boston."),
    ("Tom's dog is old.", "Toms Hund ist alt."),
    ("I don't know her.", "Ich kenne sie nicht."),
    ("In 1989 we had 25 cats.", "Im Jahr 1989 hatten wir 25 Katzen."),
    ("We start at 9:30!", "Wir beginnen um 9:30 Uhr!"),
    ("She has 1 brother.", "Sie hat 1 Bruder."),
    ("the hotel is big", "das Hotel ist groß"),
]


@pytest.fixture
def augmenter():
    return Augmenter(PAIRS, seed=0)


def several(kind, count=200):
    return [variant for variant in (kind() for _ in range(count)) if variant is not None]


def test_a_respelt_source_keeps_its_translation(augmenter):
    answers = dict(PAIRS)
    seen = set()
    for source, target in several(augmenter.respell):
        original = next(s for s, t in PAIRS if t == target)
        assert source != original
        assert fold(source).replace("'", "") == fold(original).replace("'", "")
        assert answers[original] == target
        seen.add(source)
    assert {"tom lives in boston", "Tom lives in Boston", "i dont know her"} <= seen


def test_a_misspelt_source_differs_in_one_word_that_is_no_name(augmenter):
    seen = set()
    for source, target in several(augmenter.misspell):
        original = next(s for s, t in PAIRS if t == target)
        wrong = [(a, b) for a, b in zip(original.split(), source.split(), strict=True) if a != b]
        assert len(wrong) == 1
        assert wrong[0][0] not in ("Tom", "Boston.", "In", "25")
        assert set(wrong[0][1]) <= set(wrong[0][0])
        seen.add(wrong[0][1])
    assert {"livse", "lies", "livves"} & seen and len(seen) > 15


@pytest.mark.parametrize("kind", ["rename", "address"])
def test_a_name_is_replaced_alike_on_both_sides(augmenter, kind):
    variants = several(getattr(augmenter, kind))
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


def test_numbers_change_alike(augmenter):
    for source, target in several(augmenter.renumber):
        numbers = re.findall(r"\d+(?::\d+)?", source)
        assert numbers == re.findall(r"\d+(?::\d+)?", target)
        assert "1" not in numbers  # "1 cats"
        if ":" in numbers[0]:
            hour, minute = map(int, numbers[0].split(":"))
            assert hour < 24 and minute < 60


def test_as_many_variants_as_wanted():
    found = list(augment(PAIRS, 3.0, seed=1))
    assert len(found) == 3 * len(PAIRS)
    assert found == list(augment(PAIRS, 3.0, seed=1))
    assert found != list(augment(PAIRS, 3.0, seed=2))


def test_the_command_writes_a_file_for_a_mix(tmp_path, monkeypatch):
    """It has variants of the training pairs, but of no held-out pair."""
    things = {"cat": "Katze", "door": "Tür", "flower": "Blume", "city": "Stadt", "lamp": "Lampe"}
    lines = [
        f"{name} sees the {english}.\t{name} sieht die {german}."
        for name in ("Anna", "Ben", "Clara", "David", "Emma", "Frank", "Greta", "Hugo")
        for english, german in things.items()
    ]
    pairs, output = tmp_path / "pairs.tsv", tmp_path / "augmented.tsv"
    pairs.write_text("".join(f"{line}\n" for line in lines))
    overrides = [f"data.files=[[{pairs}]]", "data.held_out_size=2"]
    command = ["augmentation", "configs/own.yaml", str(output), "--share=2", *overrides]
    monkeypatch.setattr(sys, "argv", command)
    main()
    written = [tuple(line.split("\t")) for line in read_lines(output)]
    assert len(written) == 2 * 36
    mix = f"data.mix=[{{files: [{output}]}}]"
    corpus = load_corpus(load_config(Path("configs/own.yaml"), [*overrides, mix]).data, 0)
    held_out = {target for _, target in [*corpus.validation, *corpus.test]}
    assert len(held_out) == 4
    # Another name can make a held-out pair of a training pair. The corpus leaves it out.
    assert not held_out & {target for _, target in corpus.train}
    assert corpus.sources[1].pairs > 40
