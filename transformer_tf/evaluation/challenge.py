"""Checks the translations of hard sentences against patterns."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transformer_tf.errors import DataError
from transformer_tf.translator import Translator
from transformer_tf.utils.lines import read_lines
from transformer_tf.utils.tables import table


@dataclasses.dataclass(frozen=True)
class Challenge:
    """A hard sentence and a pattern for its translation.

    Attributes:
        kind: What makes the sentence hard.
        source: The sentence.
        expected: A regular expression that every sound translation matches somewhere.
    """

    kind: str
    source: str
    expected: str


@dataclasses.dataclass(frozen=True)
class ChallengeReport:
    """The translations of challenges, and whether they are sound.

    Attributes:
        answers: For each challenge `kind`, `source`, `translation`, and `sound`:
            whether the translation matches the pattern.
    """

    answers: list[dict[str, Any]]

    def summary(self) -> str:
        """Formats each translation, marked + or -, and the number of sound ones of each kind."""
        lines = [
            f"{'+' if each['sound'] else '-'} {each['source']}\n  → {each['translation']}"
            for each in self.answers
        ]
        kinds = dict.fromkeys(each["kind"] for each in self.answers)
        rows: list[dict[str, Any]] = []
        for kind in (*kinds, "all"):
            sound = [each["sound"] for each in self.answers if kind in (each["kind"], "all")]
            rows.append({"kind": kind, "sound": sum(sound), "of": len(sound)})
        return "\n".join([*lines, "", table(rows)])


def read_challenges(path: Path) -> list[Challenge]:
    """Reads tab-separated lines of kind, sentence and regular expression; `#` begins a comment.

    Raises:
        DataError: If a line is malformed or there are none. The message names the line.
    """
    challenges = []
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split("\t")
        try:
            kind, source, expected = parts
            re.compile(expected)
        except (ValueError, re.error) as error:
            raise DataError(
                f"{path}: line {number} is not kind, sentence and regular expression between "
                f"tabs ({error})"
            ) from error
        challenges.append(Challenge(kind, source, expected))
    if not challenges:
        raise DataError(f"{path} has no challenges")
    return challenges


def challenge(translator: Translator, challenges: Sequence[Challenge]) -> ChallengeReport:
    """Translates challenges and matches each translation with its pattern."""
    translations = translator.translate([each.source for each in challenges], n_best=1)
    return ChallengeReport(
        [
            {
                "kind": each.kind,
                "source": each.source,
                "translation": translation,
                "sound": re.search(each.expected, translation) is not None,
            }
            for each, translation in zip(challenges, translations, strict=True)
        ]
    )
