"""Translates a sentence, a file, standard input, or what the user types at a prompt."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from transformer_tf.commands import new_parser
from transformer_tf.commands.checkpoints import add_checkpoint, chosen_checkpoints
from transformer_tf.errors import DataError, TransformerTFError
from transformer_tf.utils.files import FILE_SUFFIXES
from transformer_tf.utils.startup import run_command

if TYPE_CHECKING:
    from transformer_tf.attention_maps.attention_scores import Attention
    from transformer_tf.translator import Translator

PAGE = ".html"
PLOT_OPTIONS = ("kind", "layer", "head", "words", "numbers")  # as in `Attention.plot`
MAX_PAGE_SENTENCES = 200
MAX_BLOCK = 512  # lines that are translated at once


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(
        "Translate a sentence, a file or the lines of standard input. "
        "Without a sentence or file, in a terminal, prompt for sentences."
    )
    parser.add_argument("sentence", nargs="?", help="the sentence to translate, in quotes")
    parser.add_argument(
        "overrides",
        nargs="*",
        metavar="decoding.key=value",
        help="change a key of the search, such as decoding.length_penalty=1.2",
    )
    add_checkpoint(parser)
    parser.add_argument(
        "--engine",
        choices=("numpy", "keras", "ctranslate2"),
        default="numpy",
        help="the search engine; numpy (default) starts at once; keras has greedy search only; "
        "ctranslate2 needs an exported checkpoint",
    )
    parser.add_argument(
        "--input", type=Path, metavar="FILE", help="translate each line of a UTF-8 file"
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="write to a file instead of standard output, about every second",
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on after the lines that a stopped command wrote to --output",
    )
    parser.add_argument(
        "--beam-size", type=int, metavar="N", help="number of hypotheses to keep; 1 is greedy"
    )
    parser.add_argument(
        "--n-best",
        type=int,
        default=1,
        metavar="N",
        help="write the N best translations, with line number and score",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="write a JSON object per line, with tokens, scores and word alignment",
    )
    add_attention_options(parser.add_argument_group("attention"))
    return parser


def parse_arguments() -> argparse.Namespace:
    """Parses the command line."""
    parser = make_parser()
    arguments = parser.parse_intermixed_args()
    words = [arguments.sentence, *arguments.overrides] if arguments.sentence is not None else []
    arguments.overrides = [word for word in words if word.startswith("decoding.")]
    sentences = [word for word in words if word not in arguments.overrides]
    if len(sentences) > 1:
        parser.error(f'put the sentence in quotes: "{" ".join(sentences)}"')
    if sentences and arguments.input:
        parser.error("give a sentence or --input, not both")
    if arguments.resume and not (arguments.input and arguments.output and arguments.n_best == 1):
        parser.error("--resume needs --input and --output, and one translation for each line")
    arguments.sentence = sentences[0] if sentences else None
    check_attention(parser, arguments)
    return arguments


def add_attention_options(group: argparse._ArgumentGroup) -> None:
    """Adds the options for heat maps."""
    group.add_argument(
        "--attention",
        type=Path,
        metavar="FILE",
        help="write the attention of the sentence as a .png, .svg or .pdf picture, or that of the "
        "sentence or the lines of --input as an interactive .html page",
    )
    group.add_argument(
        "--kind",
        choices=("encoder", "decoder", "cross"),
        help="encoder or decoder self-attention, or cross-attention (default)",
    )
    group.add_argument(
        "--layer",
        type=number,
        metavar="N",
        help="from 1, or all; default: the one that aligns words, or the last",
    )
    group.add_argument("--head", type=number, metavar="N", help="from 1, mean, or all (default)")
    group.add_argument(
        "--words", action="store_true", default=None, help="merge sub-words into words"
    )
    group.add_argument(
        "--numbers", action="store_true", default=None, help="write the weights in the cells"
    )


def number(text: str) -> int | str:
    """Reads the number of a layer or head, or the name of several; an argparse type."""
    return text if text in ("all", "mean") else int(text)


def check_attention(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Sets `arguments.plot`, and exits with an error if options contradict each other."""
    options = {name: getattr(arguments, name) for name in PLOT_OPTIONS}
    arguments.plot = {name: value for name, value in options.items() if value is not None}
    given = next(iter(arguments.plot), None)
    if arguments.attention is None:
        if given:
            parser.error(f"--{given} needs --attention")
        return
    suffix = arguments.attention.suffix.lower()
    if suffix not in (*FILE_SUFFIXES, PAGE):
        parser.error(f"--attention FILE must end in {', '.join((*FILE_SUFFIXES, PAGE))}")
    if suffix == PAGE and given:
        parser.error(f"--{given} is for pictures: a page shows every kind, layer and head")
    if arguments.sentence is None and not (suffix == PAGE and arguments.input):
        parser.error("--attention needs a sentence, or --input and a .html page")
    if arguments.resume or arguments.json or arguments.n_best > 1:
        parser.error("--attention cannot be combined with --resume, --json or --n-best")
    if arguments.engine == "ctranslate2":
        parser.error("--attention needs the checkpoint itself, and another --engine")


def main() -> None:
    """Runs the command."""
    arguments = parse_arguments()
    number_of_lines = check_files(arguments)
    translator = load(arguments)
    if arguments.attention:
        translations = write_attention(translator, arguments)
        from transformer_tf.utils.lines import LineWriter

        with LineWriter(arguments.output) as writer:
            writer.write(translations)
    else:
        translate_all(translator, arguments, number_of_lines)


def check_files(arguments: argparse.Namespace) -> int | None:
    """Checks the texts and files before the slow start.

    Returns:
        The number of lines of --input; None if it is a pipe, which can only be read once.

    Raises:
        DataError: If a text is not UTF-8 or a line too long, or a file cannot be read or written.
    """
    from transformer_tf.text.segments import MAX_CHARACTERS
    from transformer_tf.utils.lines import count_complete_lines, count_lines, split_lines

    if arguments.sentence is not None:
        # Python reads bytes of the command line that are not UTF-8 as lone surrogates.
        split_lines(arguments.sentence.encode("utf-8", "surrogateescape"), "the sentence")
    source, output = arguments.input, arguments.output
    is_pipe = source and source.exists() and not source.is_file() and not source.is_dir()
    number_of_lines = count_lines(source, MAX_CHARACTERS) if source and not is_pipe else None
    for path in filter(None, (output, arguments.attention)):
        if not path.parent.is_dir():
            raise DataError(f"Cannot write {path}: its folder does not exist")
    if source and output and output.exists() and output.samefile(source):
        raise DataError(f"--input and --output are the same file: {output}")
    arguments.done = count_complete_lines(output, number_of_lines) if arguments.resume else 0
    return number_of_lines


def load(arguments: argparse.Namespace) -> Translator:
    """Loads the translator, with the search options of the command line."""
    (folder,) = chosen_checkpoints(arguments)
    from transformer_tf.translator import Translator

    size = arguments.beam_size
    overrides = [] if size is None else [f"decoding.beam_size={size}"]
    if arguments.engine == "keras" and sys.stderr.isatty():
        print(f"Loading {folder} with Keras takes a few seconds.", file=sys.stderr)
    return Translator.load(folder, [*overrides, *arguments.overrides], arguments.engine)


def read_blocks(arguments: argparse.Namespace) -> Iterator[list[str]]:
    """Yields the sentences in blocks; each block is translated and written before the next."""
    from transformer_tf.commands.prompt import prompt
    from transformer_tf.text.segments import MAX_CHARACTERS
    from transformer_tf.utils.lines import blocks, iterate_lines

    if arguments.sentence is not None:
        yield [arguments.sentence]
    elif arguments.input:
        with arguments.input.open("rb") as file:
            lines = iterate_lines(file, str(arguments.input), MAX_CHARACTERS)
            yield from blocks(itertools.islice(lines, arguments.done, None), MAX_BLOCK)
    elif sys.stdin.isatty():
        yield from ([sentence] for sentence in prompt())
    else:
        stream: IO[bytes] = sys.stdin.buffer
        with contextlib.suppress(OSError):  # at exit, Python waits for readers of `sys.stdin`
            stream = open(sys.stdin.fileno(), "rb", closefd=False)  # noqa: SIM115
        lines = iterate_lines(stream, "standard input", MAX_CHARACTERS)
        yield from blocks(lines, MAX_BLOCK)


def translate_all(
    translator: Translator, arguments: argparse.Namespace, number_of_lines: int | None
) -> None:
    """Translates the sentences and writes their translations."""
    from transformer_tf.commands.translations import format_json, format_lines
    from transformer_tf.utils.lines import LineWriter

    # CTranslate2 returns no attention, from which words are aligned.
    alignment = arguments.json and arguments.engine != "ctranslate2"
    numbers, noted = itertools.count(1), False
    with LineWriter(arguments.output, number_of_lines, arguments.done) as writer:
        for block in read_blocks(arguments):
            noted = noted or note_language(translator, block)
            found = translator.search(
                block, alignment=alignment, on_cut=warn_of_cut, n_best=arguments.n_best
            )
            for sentence, translations in zip(block, found, strict=True):
                if arguments.json:
                    writer.write([format_json(sentence, translations)])
                else:
                    writer.write(format_lines(translations, next(numbers), arguments.n_best))
            writer.flush()


def note_language(translator: Translator, texts: Iterable[str]) -> bool:
    """Prints a note if texts do not seem to be in the source language, and returns whether."""
    from transformer_tf.commands.input_language import language_note

    source, target = translator.languages
    note = language_note(texts, source, target, translator.source_tokenizer.known_words)
    if note:
        print(f"note: {note}", file=sys.stderr)
    return note is not None


def warn_of_cut(text: str, parts: int) -> None:
    """Warns that a text was too long for the model, or had too many values."""
    from transformer_tf.text.placeholders import MAX_VALUES

    print(
        f"warning: a text of {len(text.split())} words is too long, or has more than {MAX_VALUES} "
        f"values, and is translated in {parts} parts",
        file=sys.stderr,
    )


def write_attention(translator: Translator, arguments: argparse.Namespace) -> list[str]:
    """Writes the --attention file and returns the translations."""
    lines = itertools.chain.from_iterable(read_blocks(arguments))
    sentences = list(itertools.islice(lines, MAX_PAGE_SENTENCES + 1))
    if len(sentences) > MAX_PAGE_SENTENCES:
        raise DataError(f"--input has more than {MAX_PAGE_SENTENCES} lines, too many for a page")
    note_language(translator, sentences)
    attended = attend_lines(translator, sentences)
    attentions = [attention for attention in attended if attention]
    if not attentions:
        raise TransformerTFError("There is no attention to show for an empty sentence")
    if arguments.attention.suffix.lower() == PAGE:
        from transformer_tf.attention_maps.page import save_page

        save_page(attentions, arguments.attention)
    else:
        from transformer_tf.plots.style import save_figure

        save_figure(attentions[0].plot(**arguments.plot), arguments.attention)
    print(f"Wrote {arguments.attention}", file=sys.stderr)
    return [attention.translation if attention else "" for attention in attended]


def attend_lines(translator: Translator, sentences: list[str]) -> list[Attention | None]:
    """Returns the attention of each sentence; None for an empty one."""
    from transformer_tf.text.normalization import normalize_text

    attended: list[Attention | None] = []
    for line, sentence in enumerate(sentences, 1):
        try:
            attended.append(translator.attend(sentence) if normalize_text(sentence) else None)
        except TransformerTFError as error:
            raise TransformerTFError(f"Line {line}: {error}") from error
    return attended


def command() -> int:
    """Runs `transformer-tf-translate`, and returns its exit status."""
    return run_command(main)
