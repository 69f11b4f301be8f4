"""The benchmark of hard sentences."""

import json

import pytest

from benchmarks.challenge import measure_challenge
from transformer_tf.errors import DataError


def test_sound_translations_are_counted(checkpoint, tmp_path, capsys):
    path = tmp_path / "hard.tsv"
    path.write_text("# remark\nname\tA tree.\t(?s).*\n\nname\tX\t\\d{99}\nword\tI see.\t.*\n")
    rows = list(measure_challenge(checkpoint, path, ["decoding.beam_size=2"]))
    assert rows == [
        {"kind": "name", "sound": 1, "of": 2},
        {"kind": "word", "sound": 1, "of": 1},
        {"kind": "all", "sound": 2, "of": 3},
    ]
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [answer["sound"] for answer in answers] == [True, False, True]
    assert answers[0]["source"] == "A tree."


@pytest.mark.parametrize(
    ("text", "named"),
    [("two\tcolumns\n", "line 1"), ("a\tb\t(\n", "line 1"), ("# a\n", "hard.tsv")],
)
def test_a_wrong_line_is_named(checkpoint, tmp_path, text, named):
    path = tmp_path / "hard.tsv"
    path.write_text(text)
    with pytest.raises(DataError, match=named):
        next(measure_challenge(checkpoint, path))
