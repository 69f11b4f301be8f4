"""Translates a sentence, a file, standard input, or what the user types at a prompt."""

import argparse
import contextlib
import io
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from transformer_tf.commands import add_checkpoint, chosen_checkpoints, new_parser
from transformer_tf.errors import ConfigError, DataError, TransformerTFError
from transformer_tf.utils.files import FILE_SUFFIXES
from transformer_tf.utils.startup import run_command

PAGE = ".html"
MAX_PAGE_SENTENCES = 200
LINES_AT_A_TIME = 4096
# Search options: the same names on the command line and in the configuration.
SEARCH = {
    "beam_size": (int, "N", "number of hypotheses to keep; 1 is greedy search"),
    "length_penalty": (float, "A", "rank by log-probability / ((5 + length) / 6)^A"),
    "n_best": (int, "N", "write the N best translations, with line number and score"),
    "batch_size": (int, "N", "number of sentences to translate at a time"),
    "min_length": (int, "N", "minimum number of sub-words of a translation"),
    "max_length": (int, "N", "maximum number of sub-words of a translation"),
    "temperature": (float, "T", "sample tokens from softmax(logits / T)"),
    "top_k": (int, "K", "sample from the K most probable tokens; needs --temperature"),
    "top_p": (
        float,
        "P",
        "sample from the most probable tokens with total probability P; needs --temperature",
    ),
    "seed": (int, "N", "seed of the sampling; needs --temperature"),
}
PROMPT_HELP = """Type a sentence and press Enter to translate it.
The arrow keys edit the line and recall earlier sentences.
:help shows this text. quit, exit, an empty line or Ctrl-D ends the program."""
PROMPT_END = ("", "quit", "exit", ":quit", ":exit")


def parse_arguments() -> argparse.Namespace:
    """Parses the command line."""
    parser = new_parser(
        "Translate a sentence, a file or the lines of standard input. "
        "Without a sentence or file, in a terminal, prompt for sentences."
    )
    parser.add_argument("sentence", nargs="?", help="the sentence to translate, in quotes")
    add_checkpoint(parser)
    parser.add_argument(
        "--engine",
        choices=("auto", "numpy", "keras", "ctranslate2"),
        default="auto",
        help="the search engine; auto (default) is numpy, which starts at once, or keras for "
        "sampling; ctranslate2 needs an exported checkpoint",
    )
    add_file_options(parser.add_argument_group("files"))
    search = parser.add_argument_group("search", "Defaults: the checkpoint's config.yaml.")
    for name, (kind, metavar, text) in SEARCH.items():
        search.add_argument(option(name), type=kind, metavar=metavar, help=text)
    search.add_argument("--prefix", metavar="TEXT", help="the beginning of the translation")
    search.add_argument(
        "--replace-unknowns",
        action="store_true",
        help="replace an unknown token by the source token with the most attention",
    )
    add_attention_options(parser.add_argument_group("attention"))
    arguments, rest = parser.parse_known_args()
    if rest and arguments.sentence is not None and not any(word.startswith("-") for word in rest):
        parser.error(f'put the sentence in quotes: "{" ".join([arguments.sentence, *rest])}"')
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if arguments.sentence is not None and arguments.input:
        parser.error("give a sentence or --input, not both")
    check_attention(parser, arguments)
    for name in ("attention", "alignment", "replace_unknowns"):
        if arguments.engine == "ctranslate2" and getattr(arguments, name):
            parser.error(f"{option(name)} needs --engine keras, and the checkpoint itself")
    if arguments.resume and not (arguments.input and arguments.output):
        parser.error("--resume needs --input and --output")
    if arguments.resume and (arguments.n_best or 1) > 1 and not arguments.json:
        parser.error("--resume needs one output line for each input line: --n-best 1, or --json")
    return arguments


def add_file_options(group: argparse._ArgumentGroup) -> None:
    """Adds the options for input and output."""
    group.add_argument(
        "--input", type=Path, metavar="FILE", help="translate each line of a UTF-8 file"
    )
    group.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help=f"write to a file instead of standard output, {LINES_AT_A_TIME} lines at a time",
    )
    group.add_argument(
        "--resume", action="store_true", help="continue after the last complete line of --output"
    )
    group.add_argument(
        "--json",
        action="store_true",
        help="write a JSON object per line, with tokens and all scores",
    )
    group.add_argument(
        "--scores", action="store_true", help="write the score and a tab before each translation"
    )


def add_attention_options(group: argparse._ArgumentGroup) -> None:
    """Adds the options for heat maps and word alignments."""
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
        "--layer", type=number_or("all"), metavar="N", help="from 1, or all; default: the last"
    )
    group.add_argument(
        "--head", type=number_or("all", "mean"), metavar="N", help="from 1, mean, or all (default)"
    )
    group.add_argument("--words", action="store_true", help="merge sub-words into words")
    group.add_argument(
        "--hide-special", action="store_true", help="leave out the start and end tokens"
    )
    group.add_argument("--numbers", action="store_true", help="write the weights in the cells")
    group.add_argument(
        "--alignment",
        choices=("pharaoh",),
        help="write a tab and the word alignment after each translation; 0-0 1-2 links source word "
        "0 with target word 0, and source word 1 with target word 2",
    )


def option(name: str) -> str:
    """Returns the option for a key of the configuration: `--beam-size` for `beam_size`."""
    return f"--{name.replace('_', '-')}"


def number_or(*names: str) -> Callable[[str], int | str]:
    """Returns an argparse type that takes an integer or one of the names."""

    def number_or_name(text: str) -> int | str:
        if text in names:
            return text
        try:
            return int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"must be a number or {' or '.join(names)}, not {text}"
            ) from None

    return number_or_name


def check_attention(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Exits with an error if attention options contradict each other or other options."""

    def is_given(name: str) -> bool:
        value = getattr(arguments, name)
        return value is not None and value is not False  # but `--head 0` is given

    names = ("kind", "layer", "head", "words", "hide_special", "numbers")
    given = [option(name) for name in names if is_given(name)]
    if arguments.attention is None:
        if given:
            parser.error(f"{given[0]} needs --attention")
        return
    suffix = arguments.attention.suffix.lower()
    if suffix not in (*FILE_SUFFIXES, PAGE):
        parser.error(f"--attention FILE must end in {', '.join((*FILE_SUFFIXES, PAGE))}")
    if suffix == PAGE and given:
        parser.error(f"{given[0]} is for pictures: a page shows every kind, layer and head")
    if arguments.sentence is None and not (suffix == PAGE and arguments.input):
        parser.error("--attention needs a sentence, or --input and a .html page")
    for name in ("resume", "json", "scores", "alignment", "prefix", "n_best"):
        if is_given(name):
            parser.error(f"--attention cannot be combined with {option(name)}")


def load(arguments: argparse.Namespace):
    """Loads the translator, with the search options of the command line."""
    (folder,) = chosen_checkpoints(arguments)
    given = {name: getattr(arguments, name) for name in SEARCH}
    given = {name: value for name, value in given.items() if value is not None}
    check_search_options(folder, given)
    overrides = [f"decoding.{name}={value}" for name, value in given.items()]
    if arguments.scores or arguments.json:
        overrides.append("decoding.scores=true")
    if arguments.replace_unknowns:
        overrides.append("decoding.replace_unknowns=true")
    if arguments.alignment:
        overrides.append("decoding.alignment=true")
    from transformer_tf.translator import Translator

    engine = arguments.engine
    if engine == "auto" and arguments.temperature:  # sampling needs Keras
        engine = "keras"
    if engine == "keras" and sys.stderr.isatty():
        print(f"Loading {folder} with Keras takes a few seconds.", file=sys.stderr)
    return Translator.load(folder, overrides, engine)


def check_search_options(folder: Path, given: dict[str, int | float]) -> None:
    """Checks the search options before the slow start, with errors that name the options.

    Raises:
        ConfigError: If an option is out of range or has no effect.
    """
    from transformer_tf.checkpoint import CONFIG_FILE
    from transformer_tf.config import load_saved_config

    if not given or not (folder / CONFIG_FILE).is_file():
        return
    try:
        load_saved_config(folder / CONFIG_FILE).decoding.change(**given)
    except ConfigError as error:
        message = re.sub(
            r"decoding\.(\w+)",
            lambda match: option(match[1]) if match[1] in SEARCH else match[0],
            str(error),
        )
        raise ConfigError(message) from error


def prompt() -> Iterator[str]:
    """Yields the sentences that the user types, until one of `PROMPT_END` or Ctrl-D."""
    with contextlib.suppress(ImportError):  # Windows has no readline
        import readline  # noqa: F401  (gives `input` line editing and a history)
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # a mistyped byte must not end the program
    print("Type a sentence and press Enter. :help shows more.", file=sys.stderr)
    while True:
        try:
            if sys.stdout.isatty():
                line = input("> ")
            else:  # keep the prompt out of a redirected standard output
                print("> ", end="", file=sys.stderr, flush=True)
                line = input()
        except EOFError:
            print(file=sys.stderr)
            return
        if line.strip() in PROMPT_END:
            return
        if line.strip() == ":help":
            print(PROMPT_HELP, file=sys.stderr)
        else:
            yield line


def main() -> None:
    """Runs the command."""
    arguments = parse_arguments()
    from transformer_tf.utils import lines as text_lines

    for text, name in (arguments.sentence, "the sentence"), (arguments.prefix, "--prefix"):
        if text is not None:
            # Python reads bytes of the command line that are not UTF-8 as lone surrogates.
            text_lines.split_lines(text.encode("utf-8", "surrogateescape"), name)
    number_of_lines = None
    if arguments.input and not is_pipe(arguments.input):  # a pipe can only be read once
        number_of_lines = text_lines.count_lines(arguments.input)
    for path in filter(None, (arguments.output, arguments.attention)):
        if not path.parent.is_dir():
            raise DataError(f"Cannot write {path}: its folder does not exist")
    files = [path for path in (arguments.input, arguments.output) if path and path.exists()]
    if len(files) == 2 and files[0].samefile(files[1]):
        raise DataError(f"--input and --output are the same file: {arguments.output}")

    translator = load(arguments)
    if arguments.resume and translator.options.n_best > 1 and not arguments.json:
        raise ConfigError(
            "--resume needs one output line for each input line, but the checkpoint has "
            f"decoding.n_best={translator.options.n_best}: add --n-best 1 or --json"
        )
    if arguments.attention:
        print_lines(arguments, draw(translator, arguments))
        return
    if arguments.sentence is not None:
        translate_all(translator, [arguments.sentence], arguments)
    elif arguments.input:
        with arguments.input.open("rb") as file:
            sentences = text_lines.iterate_lines(file, str(arguments.input))
            translate_all(translator, sentences, arguments, number_of_lines)
    elif sys.stdin.isatty():
        translate_all(translator, prompt(), arguments, at_a_time=1)
    else:
        sentences = text_lines.iterate_lines(sys.stdin.buffer, "standard input")
        translate_all(translator, sentences, arguments)


def translate_all(
    translator,
    sentences: Iterable[str],
    arguments: argparse.Namespace,
    total: int | None = None,
    at_a_time: int = LINES_AT_A_TIME,
) -> None:
    """Translates sentences in blocks and writes each block as soon as it is translated."""
    from transformer_tf.commands.translations import format_translations
    from transformer_tf.utils.lines import LineWriter, blocks

    with LineWriter(arguments.output, arguments.resume, total) as writer:
        if total is not None and writer.done > total:
            raise DataError(
                f"--resume: {arguments.output} has {writer.done} lines already, more than the "
                f"{total} of {arguments.input}"
            )
        noted = False
        for number, block in blocks(sentences, at_a_time, skip=writer.done):
            noted = noted or note_language(translator, block)
            found = translator.search(
                block,
                prefixes=None if arguments.prefix is None else [arguments.prefix] * len(block),
                on_cut=warn_of_cut,
                first_number=number - 1,
            )
            for offset, (sentence, translations) in enumerate(zip(block, found, strict=True)):
                writer.write(
                    format_translations(
                        sentence,
                        translations,
                        number + offset,
                        as_json=arguments.json,
                        scores=arguments.scores,
                        alignment=arguments.alignment is not None,
                        n_best=translator.options.n_best,
                    )
                )
            writer.flush()


def print_lines(arguments: argparse.Namespace, lines: list[str]) -> None:
    """Writes lines to --output or standard output."""
    from transformer_tf.utils.lines import LineWriter

    with LineWriter(arguments.output) as writer:
        writer.write(lines)


def note_language(translator, texts: list[str]) -> bool:
    """Prints a note if texts do not seem to be in the source language, and returns whether."""
    from transformer_tf.commands.input_language import language_note

    known_words = translator.source_tokenizer.known_words
    source, target = translator.languages
    note = language_note(texts, source, target, known_words)
    if note:
        print(f"note: {note}", file=sys.stderr)
    return note is not None


def warn_of_cut(text: str, parts: int) -> None:
    """Warns that a text was too long for the model."""
    print(
        f"warning: a text of {len(text.split())} words is too long and translated in {parts} parts",
        file=sys.stderr,
    )


def draw(translator, arguments: argparse.Namespace) -> list[str]:
    """Writes the --attention file and returns the translations."""
    if arguments.attention.suffix.lower() == PAGE:
        attended = attend_lines(translator, arguments)
        attentions = [attention for attention in attended if attention]
        if not attentions:
            raise TransformerTFError("There is no attention to show for an empty sentence")
        from transformer_tf.attention_maps.page import save_page

        save_page(attentions, arguments.attention)
        translations = [attention.translation if attention else "" for attention in attended]
    else:
        note_language(translator, [arguments.sentence])
        attention = translator.attend(arguments.sentence)
        figure = attention.plot(
            arguments.kind or "cross",
            arguments.layer,
            "all" if arguments.head is None else arguments.head,
            words=arguments.words,
            special=not arguments.hide_special,
            numbers=arguments.numbers,
        )
        from transformer_tf.plots.style import save_figure

        save_figure(figure, arguments.attention)
        translations = [attention.translation]
    print(f"Wrote {arguments.attention}", file=sys.stderr)
    return translations


def attend_lines(translator, arguments: argparse.Namespace) -> list:
    """Returns the attention for the sentence or each line of --input; None for an empty line."""
    from transformer_tf.text.normalization import normalize_text
    from transformer_tf.utils.lines import iterate_lines

    lines = [arguments.sentence]
    if arguments.input:
        with arguments.input.open("rb") as file:
            lines = list(islice(iterate_lines(file, str(arguments.input)), MAX_PAGE_SENTENCES + 1))
    if len(lines) > MAX_PAGE_SENTENCES:
        raise DataError(f"--input has more than {MAX_PAGE_SENTENCES} lines, too many for a page")
    for number, line in enumerate(lines, 1):
        if normalize_text(line) and not translator.fits(line):
            raise TransformerTFError(
                f"Line {number} has more than {translator.max_source_length} sub-words, too many "
                "for a heat map"
            )
    note_language(translator, lines)
    return [
        translator.attend(line, number) if translator.fits(line) else None
        for number, line in enumerate(lines)
    ]


def is_pipe(path: Path) -> bool:
    """Whether a path exists, but is not an ordinary file or folder."""
    return path.exists() and not path.is_file() and not path.is_dir()


def command() -> int:
    """Runs `transformer-tf-translate`, and returns its exit status."""
    return run_command(main)
