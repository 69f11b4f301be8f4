#!/usr/bin/env python
"""Translate: python scripts/translate.py "a sentence", or --input FILE, or lines on stdin."""

import argparse
import io
import sys
from collections.abc import Iterator
from pathlib import Path

from transformer_tf.errors import DataError, TransformerTFError
from transformer_tf.startup import import_keras_quietly, run_command

ROOT = Path(__file__).resolve().parent.parent
PICTURES = (".png", ".svg", ".pdf")


def parse_arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        description="Translate a sentence, a file or the lines of standard input; "
        "started bare in a terminal, it asks for sentences."
    )
    parser.add_argument("sentence", nargs="?", help="what to translate")
    parser.add_argument(
        "--checkpoint",
        type=Path,
        metavar="DIR",
        help="the translator's folder, by default checkpoints/en-de, else the latest run",
    )
    parser.add_argument(
        "--input", type=Path, metavar="FILE", help="translate the lines of a UTF-8 file"
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="write there instead of to standard output"
    )
    parser.add_argument(
        "--attention",
        type=Path,
        metavar="FILE",
        help="draw the attention of the sentence as .png, .svg or .pdf",
    )
    parser.add_argument(
        "--kind",
        choices=("encoder", "decoder", "cross"),
        default="cross",
        help="encoder or decoder self-attention, or cross-attention (default)",
    )
    parser.add_argument(
        "--layer", type=int, metavar="N", help="layer to draw, from 1; the last by default"
    )
    arguments = parser.parse_args()
    if arguments.sentence is not None and arguments.input:
        parser.error("give a sentence or --input, not both")
    if arguments.attention and arguments.sentence is None:
        parser.error("--attention needs a sentence")
    if arguments.attention and arguments.attention.suffix.lower() not in PICTURES:
        parser.error(f"--attention FILE must end in {', '.join(PICTURES)}")
    if arguments.attention is None and arguments.layer is not None:
        parser.error("--layer needs --attention")
    return arguments


def read_sentences(arguments: argparse.Namespace) -> list[str] | None:
    """What is to be translated; None to ask for it."""
    from transformer_tf.text.lines import read_lines, split_lines

    if arguments.sentence is not None:
        # Bytes of the command line that are not UTF-8 arrive as lone surrogates.
        encoded = arguments.sentence.encode("utf-8", "surrogateescape")
        split_lines(encoded, "the sentence")
        return [arguments.sentence]
    if arguments.input:
        return read_lines(arguments.input)
    if sys.stdin.isatty():
        return None
    return split_lines(sys.stdin.buffer.read(), "standard input")


def prompt() -> Iterator[str]:
    """Asks for sentences until the end of input (Ctrl-D)."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # a mistyped byte must not end the conversation
    print("A sentence and Enter; Ctrl-D ends.", file=sys.stderr)
    while True:
        print("> ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            return
        yield line


def main() -> None:
    """Translates what the command line says."""
    arguments = parse_arguments()
    sentences = read_sentences(arguments)
    if arguments.output and not arguments.output.parent.is_dir():
        raise DataError(f"Cannot write {arguments.output}: there is no such folder")

    import_keras_quietly()
    from transformer_tf.checkpoint import find_checkpoint
    from transformer_tf.text.lines import write_lines
    from transformer_tf.translator import Translator

    translator = Translator.load(arguments.checkpoint or find_checkpoint(ROOT))

    def translate(texts: list[str]) -> list[str]:
        return translator.translate(texts, on_cut=warn_of_cut)

    if sentences is None:
        for sentence in prompt():
            print(translate([sentence])[0], flush=True)
        return
    if arguments.attention:
        translations = [draw(translator, sentences[0], arguments)]
    else:
        translations = translate(sentences)
    if arguments.output:
        write_lines(arguments.output, translations)
    else:
        for translation in translations:
            print(translation)


def warn_of_cut(text: str, parts: int) -> None:
    """Says that a text was too long to be translated as one."""
    print(
        f"warning: a text of {len(text.split())} words is translated in {parts} parts",
        file=sys.stderr,
    )


def draw(translator, sentence: str, arguments: argparse.Namespace) -> str:
    """Draws the attention of a sentence and returns its translation."""
    from transformer_tf.attention_maps import plot_attention, save_figure

    attention = translator.attend(sentence)
    layers = attention.scores[arguments.kind]
    layer = len(layers) if arguments.layer is None else arguments.layer
    if not 1 <= layer <= len(layers):
        raise TransformerTFError(f"--layer must be from 1 to {len(layers)}, not {layer}")
    figure = plot_attention(
        layers[layer - 1], *attention.labels(arguments.kind), title=attention.title
    )
    save_figure(figure, arguments.attention)
    return attention.translation


if __name__ == "__main__":
    sys.exit(run_command(main))
