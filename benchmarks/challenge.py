"""Checks the translations of hard sentences against patterns."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from transformer_tf.errors import DataError
from transformer_tf.translator import Translator
from transformer_tf.utils.lines import read_lines


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


def read_challenges(path: Path) -> list[Challenge]:
    """Reads tab-separated lines of kind, sentence and regular expression; `#` begins a comment.

    Raises:
        DataError: If a line is malformed or there are none. The message names the line.
    """
    challenges = []
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            kind, source, expected = line.split("\t")
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


def measure_challenge(
    folder: Path, file: Path, overrides: Sequence[str] = ()
) -> Iterator[dict[str, Any]]:
    """Translates challenges, and prints each translation and whether it matches its pattern.

    Args:
        folder: A checkpoint.
        file: The challenges.
        overrides: Strings `decoding.key=value`.

    Yields:
        For each kind of challenge, then for all: the number of sound translations.
    """
    challenges = read_challenges(file)
    translator = Translator.load(folder, overrides)
    sources = [challenge.source for challenge in challenges]
    sound: dict[str, list[bool]] = {}
    for challenge, translation in zip(challenges, translator.translate(sources), strict=True):
        is_sound = re.search(challenge.expected, translation) is not None
        sound.setdefault(challenge.kind, []).append(is_sound)
        answer = {"source": challenge.source, "translation": translation, "sound": is_sound}
        print(json.dumps(answer), flush=True)
    sound["all"] = [is_sound for kind in sound.values() for is_sound in kind]
    for kind, results in sound.items():
        yield {"kind": kind, "sound": sum(results), "of": len(results)}
