"""Score a translator: [--checkpoint NAME] [FILE | --source FILE --reference FILE]."""

import argparse
import dataclasses
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from transformer_tf.catalog import CONFIG_FILE
from transformer_tf.commands import new_parser
from transformer_tf.commands.checkpoints import add_checkpoint, chosen_checkpoints
from transformer_tf.errors import DataError
from transformer_tf.utils.startup import run_command


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(
        "Translate sentences and compare the translations with references: BLEU, chrF, "
        "chrF++ and TER, by length, and the worst sentences."
    )
    add_checkpoint(parser)
    parser.add_argument(
        "--split",
        choices=("validation", "test"),
        help="score these pairs of the run; by default test",
    )
    parser.add_argument(
        "--source", type=Path, metavar="FILE", help="score these sentences, one on each line"
    )
    parser.add_argument(
        "--reference", type=Path, metavar="FILE", help="their reference translations"
    )
    parser.add_argument("--lowercase", action="store_true", help="ignore case")
    parser.add_argument("--json", action="store_true", help="write one JSON object")
    parser.add_argument(
        "--worst",
        type=int,
        default=10,
        metavar="N",
        help="show the N worst sentences (10)",
    )
    parser.add_argument(
        "--resamples",
        type=int,
        default=1000,
        metavar="N",
        help="bootstrap samples behind the confidence intervals (1000); 0 for none",
    )
    parser.add_argument(
        "values",
        nargs="*",
        metavar="FILE | section.key=value",
        help="score this table of sentences and references, read with data.columns or data.swap; "
        "change a key of the search, such as decoding.beam_size=4",
    )
    return parser


def parse_arguments() -> argparse.Namespace:
    """Parses the command line."""
    parser = make_parser()
    arguments = parser.parse_intermixed_args()
    arguments.table = [value for value in arguments.values if "=" not in value]
    arguments.layout = [value for value in arguments.values if value.startswith("data.")]
    others = {*arguments.table, *arguments.layout}
    arguments.overrides = [value for value in arguments.values if value not in others]
    if len(arguments.table) > 1:
        parser.error("give one table, or --source and --reference")
    if (arguments.source is None) != (arguments.reference is None):
        parser.error("--source and --reference go together")
    if bool(arguments.source) + bool(arguments.split) + bool(arguments.table) > 1:
        parser.error("give --split, a table, or --source and --reference")
    if arguments.worst < 0 or arguments.resamples < 0 or arguments.resamples == 1:
        parser.error("--worst must be at least 0, and --resamples 0 or at least 2")
    return arguments


def read_pairs(arguments: argparse.Namespace, folder: Path) -> list[tuple[str, str]]:
    """Reads the sentences and their references."""
    from transformer_tf.text.corpora.corpus import load_held_out
    from transformer_tf.utils.lines import read_lines

    if arguments.table:
        return _read_table(arguments.table[0], arguments.layout, folder)
    if not arguments.source:
        return load_held_out(folder, arguments.split or "test")
    sources, references = read_lines(arguments.source), read_lines(arguments.reference)
    if len(sources) != len(references) or not sources:
        raise DataError(
            f"{arguments.source} has {len(sources)} lines and {arguments.reference} "
            f"{len(references)}; each sentence needs one reference, and there must be at least one"
        )
    return list(zip(sources, references, strict=True))


def _read_table(path: str, layout: Sequence[str], folder: Path) -> list[tuple[str, str]]:
    """Reads the pairs of a table, which must be in the languages of a checkpoint."""
    from transformer_tf.config import load_config, load_saved_config
    from transformer_tf.text.corpora.corpus import check_languages
    from transformer_tf.text.corpora.sources import list_sources

    saved = load_saved_config(folder / CONFIG_FILE).data
    overrides = [
        f"data.files={json.dumps([path], ensure_ascii=False)}",
        f"data.source_language={saved.source_language}",
    ]
    overrides += [f"data.target_language={saved.target_language}", *layout]
    data = load_config(None, overrides).data
    (table,) = list_sources(data, Counter())
    pairs = [(pair.source, pair.target) for pair in table.read()]
    if not pairs:
        raise DataError(f"{path} has no sentence pair")
    check_languages(pairs, path, data)
    return pairs


def main() -> None:
    """Scores a translator."""
    arguments = parse_arguments()
    (folder,) = chosen_checkpoints(arguments)
    pairs = read_pairs(arguments, folder)
    from transformer_tf.evaluation.report import report
    from transformer_tf.translator import Translator

    translator = Translator.load(folder, arguments.overrides)
    sources, references = zip(*pairs, strict=True)
    found = report(
        translator,
        sources,
        references,
        arguments.lowercase,
        arguments.resamples,
        arguments.worst,
        progress=True,
    )
    if arguments.json:
        print(json.dumps({"checkpoint": str(folder), **dataclasses.asdict(found)}))
    else:
        origin = arguments.source or "".join(arguments.table)
        origin = origin or f"{arguments.split or 'test'} split"
        print(f"{folder}, {origin}\n{found.summary()}")


def command() -> int:
    """The command `transformer-tf-evaluate`; returns its exit status."""
    return run_command(main)
