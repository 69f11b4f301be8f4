"""Finds translators by name or by language.

A name is looked up as a path, as a run in `runs`, in the folder `$TRANSFORMER_TF_CHECKPOINTS`, and
among the shipped translators, in this order.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
from collections.abc import Iterator
from pathlib import Path

from transformer_tf.errors import CheckpointError, TransformerTFError
from transformer_tf.utils.files import project_folder
from transformer_tf.utils.languages import language_code

CONFIG_FILE = "config.yaml"
DEFAULT_TRANSLATOR = "en-de"
RUNS = Path("runs")
TEST_FILE = "test.json"
VARIABLE = "TRANSFORMER_TF_CHECKPOINTS"


@dataclasses.dataclass(frozen=True)
class CatalogEntry:
    """A translator that can be loaded by name.

    Attributes:
        name: Its name, that of its folder.
        source_language: The two-letter code of the language that it reads.
        target_language: The two-letter code of the language that it writes.
        num_bytes: Size of its weights in bytes.
        bleu: BLEU on its own test pairs; None if it has no `test.json`.
        folder: Its folder.
    """

    name: str
    source_language: str
    target_language: str
    num_bytes: int
    bleu: float | None
    folder: Path


def available(runs: bool = True) -> list[CatalogEntry]:
    """Lists the translators that have a name, each name as `find_checkpoint` finds it.

    Args:
        runs: Whether to list the runs in `runs`, too.

    Raises:
        CheckpointError: If `$TRANSFORMER_TF_CHECKPOINTS` is set, but no folder.
    """
    found: dict[str, CatalogEntry] = {}
    for place in (*([RUNS] if runs else []), *_checkpoint_folders()):
        for entry in entries_in(place):
            found.setdefault(entry.name, entry)
    return list(found.values())


def find_checkpoint(name: str | Path) -> Path:
    """Returns the folder of a translator.

    Args:
        name: Its name, or the path of its folder.

    Raises:
        CheckpointError: If there is none. The message lists the names.
    """
    path = Path(name).expanduser()
    for place in (Path(), RUNS, *_checkpoint_folders()):
        if (place / path / CONFIG_FILE).is_file():
            return place / path
    if path.is_dir():
        check_folder(path)
    names = ", ".join(entry.name for entry in available()) or "none"
    raise CheckpointError(f"There is no translator {name}: name a folder or one of {names}")


def find_pair(source: str | None = None, target: str | None = None) -> Path:
    """Returns the folder of the translator between two languages.

    It is in `$TRANSFORMER_TF_CHECKPOINTS`, or else a shipped one. Runs are found by name only.

    Args:
        source: The language to read, such as `de`, `de-DE` or `German`; None for any.
        target: The language to write; None for any.

    Raises:
        CheckpointError: If there is none, or more than one.
    """
    source, target = (language and language_code(language) for language in (source, target))
    known = [entry for folder in _checkpoint_folders() for entry in entries_in(folder)]
    found = [
        entry
        for entry in known
        if source in (None, entry.source_language) and target in (None, entry.target_language)
    ]
    found = [entry for entry in found if entry.folder.parent == found[0].folder.parent]
    if len(found) == 1:
        return found[0].folder
    choices = {
        f"--from {entry.source_language} --to {entry.target_language}" for entry in found or known
    }
    if len(choices) == 1:  # only their names differ
        choices = {f"--checkpoint {entry.name}" for entry in found or known}
    wanted = " ".join(f"{word} {code}" for word, code in (("from", source), ("to", target)) if code)
    number = "Several translators go" if found else "There is no translator"
    raise CheckpointError(f"{number} {wanted}; choose from: {', '.join(sorted(choices)) or 'none'}")


def entries_in(folder: Path) -> Iterator[CatalogEntry]:
    """Yields the translators in a folder of checkpoints or runs, sorted by name.

    A folder without weights, or with an unreadable configuration, is left out.
    """
    from transformer_tf.config import load_saved_config  # which looks up `training.start_from`

    for path in sorted(folder.glob(f"*/{CONFIG_FILE}")):
        weights = weight_files(path.parent)
        if not weights:
            continue
        with contextlib.suppress(TransformerTFError):
            data = load_saved_config(path).data
            yield CatalogEntry(
                path.parent.name,
                language_code(data.source_language),
                language_code(data.target_language),
                weights[0].stat().st_size,
                _bleu(path.with_name(TEST_FILE)),
                path.parent,
            )


def weight_files(folder: Path) -> list[Path]:
    """Returns the weights in a checkpoint, the best ones first."""
    return visible_files(folder, "*.weights.h5")


def visible_files(folder: Path, pattern: str) -> list[Path]:
    """Returns the files that match a pattern, sorted, without hidden and unfinished ones."""
    return sorted(path for path in folder.glob(pattern) if not path.name.startswith("."))


def check_folder(folder: Path) -> None:
    """Checks that a folder is a checkpoint, by its configuration.

    Raises:
        CheckpointError: If it is none. The message names the checkpoints inside, if any.
    """
    if not folder.is_dir():
        raise CheckpointError(f"{folder} is not a checkpoint: there is no such folder")
    if not (folder / CONFIG_FILE).is_file():
        inside = sorted(str(path.parent) for path in folder.glob(f"*/{CONFIG_FILE}"))
        hint = f"; it contains {', '.join(inside)}" if inside else ""
        raise CheckpointError(f"{folder} is not a checkpoint: it has no {CONFIG_FILE}{hint}")


def _checkpoint_folders() -> list[Path]:
    """Returns the folders of the user's checkpoints, if there is one, and of the shipped ones."""
    folders = [project_folder() / "checkpoints"]
    if chosen := os.environ.get(VARIABLE):
        folders.insert(0, Path(chosen).expanduser())
        if not folders[0].is_dir():
            raise CheckpointError(f"${VARIABLE} is {chosen}: there is no such folder")
    return folders


def _bleu(report: Path) -> float | None:
    """Returns the BLEU score of a report that `evaluate` wrote; None without a readable one."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        metrics = json.loads(report.read_text(encoding="utf-8"))["metrics"]
        return next((metric["score"] for metric in metrics if metric["name"] == "BLEU"), None)
    return None
