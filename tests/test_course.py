"""The checks of the course's exercises know right answers from wrong ones."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

specification = importlib.util.spec_from_file_location("course", EXAMPLES / "course.py")
course = importlib.util.module_from_spec(specification)
specification.loader.exec_module(course)

NEXT_WORD, EVEN = np.eye(7)[1:], np.tri(6, 7) / np.tri(6, 7).sum(axis=1, keepdims=True)


def in_order(word, merges):
    units = ["▁", *word]
    for pair in merges:
        i = 0
        while i < len(units) - 1:
            if tuple(units[i : i + 2]) == pair:
                units[i : i + 2] = ["".join(pair)]
            i += 1
    return units


@pytest.mark.parametrize(
    ("notebook", "number", "right", "wrong"),
    [
        (1, 2, (NEXT_WORD, EVEN), (NEXT_WORD, NEXT_WORD)),
        (1, 3, ([2, 0, 1], [1, 2, 0]), ([2, 0, 1], [2, 0, 1])),
        (2, 1, (6.28, 60_600), (6.28, 10_000)),
        (3, 1, (214.2e6,), (328e6,)),
        (4, 1, (in_order,), (lambda word, merges: ["▁", *word],)),
        (4, 2, (0.01,), (0.5,)),
        (5, 1, ("Wo liegt der Bahnhof?",), ("Wo ist der Bahnhof?",)),
        (5, 3, ("larger",), ("smaller",)),
    ],
)
def test_a_check_says_right_and_not_yet(notebook, number, right, wrong, capsys):
    check = course.checks(notebook)[number - 1]
    for answer, verdict in ((right, "right."), (wrong, "not yet."), (right[1:] + (...,), "dots.")):
        check(*answer)
        assert verdict in capsys.readouterr().out
