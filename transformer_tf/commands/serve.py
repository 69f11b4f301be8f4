"""Serves translators to other programs and to browsers."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from transformer_tf.catalog import DEFAULT_TRANSLATOR, available
from transformer_tf.commands import new_parser
from transformer_tf.commands.checkpoints import add_checkpoint, chosen_checkpoints
from transformer_tf.errors import ConfigError, TransformerTFError
from transformer_tf.utils.languages import language_code
from transformer_tf.utils.startup import run_command


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(
        "Serve translators over HTTP, in LibreTranslate's shapes, with their web page at /."
    )
    add_checkpoint(parser, several=True, default="all that are no runs")
    for name, kind, default, text in (
        ("host", str, "127.0.0.1", "address to listen on; 0.0.0.0 for other machines too"),
        ("port", int, 5000, "port to listen on"),
        ("char-limit", int, 10_000, "maximum number of characters of a request"),
        ("max-requests", int, 64, "maximum number of requests to translate at once"),
    ):
        parser.add_argument(
            f"--{name}",
            type=kind,
            default=default,
            metavar="N" if kind is int else None,
            help=f"{text} (default: {default})",
        )
    return parser


def parse_arguments() -> argparse.Namespace:
    """Parses the command line."""
    parser = make_parser()
    arguments = parser.parse_args()
    if min(arguments.char_limit, arguments.max_requests) < 1:
        parser.error("--char-limit and --max-requests must be at least 1")
    return arguments


def served_checkpoints(arguments: argparse.Namespace) -> dict[tuple[str, str], Path]:
    """Returns the folders of the translators by the codes of their languages.

    Raises:
        ConfigError: If two of those that are named have the same languages or folder names.
    """
    from transformer_tf.checkpoint import open_checkpoint

    if not (arguments.checkpoint or arguments.from_language or arguments.to_language):
        named: dict[tuple[str, str], Path] = {}
        for entry in available(runs=False):
            named.setdefault((entry.source_language, entry.target_language), entry.folder)
        if named:
            return dict(sorted(named.items(), key=lambda item: item[1].name != DEFAULT_TRANSLATOR))
    folders: dict[tuple[str, str], Path] = {}
    for folder in chosen_checkpoints(arguments):
        data = open_checkpoint(folder)[0].data
        pair = language_code(data.source_language), language_code(data.target_language)
        if pair in folders:
            raise ConfigError(f"{folders[pair]} and {folder} have the same languages: name one")
        if folder.resolve().name in {other.resolve().name for other in folders.values()}:
            raise ConfigError("The checkpoints must have different folder names")
        folders[pair] = folder
    return folders


def main() -> None:
    """Runs the command."""
    arguments = parse_arguments()
    folders = served_checkpoints(arguments)
    from transformer_tf.serve.server import TranslationServer
    from transformer_tf.translator import Translator

    translators = {pair: Translator.load(folder) for pair, folder in folders.items()}
    address = arguments.host, arguments.port
    try:
        server = TranslationServer(
            address,
            translators,
            list(folders.values()),
            arguments.char_limit,
            arguments.max_requests,
        )
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise TransformerTFError(f"Cannot listen on {address[0]}:{address[1]}: {reason}") from error
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # it ends as after Ctrl-C
    pairs = ", ".join("-".join(pair) for pair in translators)
    place = f"http://{arguments.host}:{server.server_port}"
    try:
        print(f"Serving {pairs} at {place} until Ctrl-C", file=sys.stderr)
        server.serve_forever()
    except KeyboardInterrupt:
        print("\nEnding", file=sys.stderr)
    finally:
        server.server_close()


def command() -> int:
    """Runs `transformer-tf-serve`, and returns its exit status."""
    return run_command(main)
