"""Translate "a sentence", or --input FILE, or lines on stdin."""

import argparse
import io
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from transformer_tf.commands import add_checkpoint, project_folder
from transformer_tf.errors import ConfigError, DataError, TransformerTFError
from transformer_tf.startup import (
    import_keras_quietly,
    leave_graphs_as_they_are,
    run_command,
)

PICTURES = (".png", ".svg", ".pdf")
PAGE = ".html"
MOST_ON_A_PAGE = 200
LINES_AT_A_TIME = 4096
# Options of the search, as they are named here and in the configuration.
SEARCH = {
    "beam_size": (int, "N", "keep N hypotheses side by side; 1 is greedy search"),
    "length_penalty": (float, "A", "rank by log-probability / ((5 + length) / 6)^A"),
    "coverage_penalty": (float, "B", "weight of source words that were little looked at"),
    "n_best": (int, "N", "the N best translations, each with line number and score"),
    "batch_size": (int, "N", "sentences translated at a time"),
    "min_length": (int, "N", "fewest sub-words of a translation"),
    "max_length": (int, "N", "most sub-words of a translation"),
    "temperature": (float, "T", "draw tokens at random from softmax(logits / T)"),
    "top_k": (int, "K", "draw from the K likeliest tokens"),
    "top_p": (float, "P", "draw from the likeliest tokens that share P"),
    "seed": (int, "N", "seed of the draws"),
}


def parse_arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        description="Translate a sentence, a file or the lines of standard input; "
        "started bare in a terminal, it asks for sentences."
    )
    parser.add_argument("sentence", nargs="?", help="what to translate")
    add_checkpoint(parser)
    parser.add_argument(
        "--engine",
        choices=("keras", "ctranslate2"),
        default="keras",
        help="what to search with; ctranslate2 needs a folder that was exported for it",
    )
    files = parser.add_argument_group("files")
    files.add_argument(
        "--input", type=Path, metavar="FILE", help="translate the lines of a UTF-8 file"
    )
    files.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="write there instead of to standard output, some thousand lines at a time",
    )
    files.add_argument(
        "--resume", action="store_true", help="go on after the last whole line of --output"
    )
    files.add_argument(
        "--json", action="store_true", help="write one JSON object a line, with all that is known"
    )
    files.add_argument("--scores", action="store_true", help="write score, tab, translation")
    search = parser.add_argument_group("search", "by default as in the checkpoint's config.yaml")
    for name, (kind, metavar, text) in SEARCH.items():
        search.add_argument(f"--{name.replace('_', '-')}", type=kind, metavar=metavar, help=text)
    search.add_argument("--prefix", metavar="TEXT", help="what the translation begins with")
    search.add_argument(
        "--replace-unknowns",
        action="store_true",
        help="write the source word that was looked at most for an unknown one",
    )
    pictures = parser.add_argument_group("attention")
    pictures.add_argument(
        "--attention",
        type=Path,
        metavar="FILE",
        help="draw the attention of the sentence as .png, .svg or .pdf; as .html a page to explore "
        "every kind, layer and head of the sentence or of the lines of --input",
    )
    pictures.add_argument(
        "--kind",
        choices=("encoder", "decoder", "cross"),
        help="encoder or decoder self-attention, or cross-attention (default)",
    )
    pictures.add_argument(
        "--layer", type=number_or("all"), metavar="N", help="from 1, the last by default, or all"
    )
    pictures.add_argument(
        "--head", type=number_or("all", "mean"), metavar="N", help="from 1; all (default), or mean"
    )
    pictures.add_argument("--words", action="store_true", help="merge sub-words to words")
    pictures.add_argument(
        "--hide-special", action="store_true", help="leave out the start and end tokens"
    )
    pictures.add_argument("--numbers", action="store_true", help="write the weights into the cells")
    pictures.add_argument(
        "--alignment",
        choices=("pharaoh",),
        help="write translation, tab, word alignment: 0-0 1-2 (source word-target word)",
    )
    arguments = parser.parse_args()
    if arguments.sentence is not None and arguments.input:
        parser.error("give a sentence or --input, not both")
    check_attention(parser, arguments)
    for name in ("attention", "alignment", "replace_unknowns"):
        if arguments.engine == "ctranslate2" and getattr(arguments, name):
            parser.error(f"--{name.replace('_', '-')} needs the checkpoint itself, --engine keras")
    if arguments.resume and not (arguments.input and arguments.output):
        parser.error("--resume needs --input and --output")
    if arguments.resume and (arguments.n_best or 1) > 1 and not arguments.json:
        parser.error("--resume needs one line for each line: --n-best 1, or --json")
    return arguments


def is_pipe(path: Path) -> bool:
    """Whether a path is there, but no ordinary file or folder."""
    return path.exists() and not path.is_file() and not path.is_dir()


def number_or(*names: str) -> Callable[[str], int | str]:
    """A type of option: a number, or one of some names."""

    def number_or_name(text: str) -> int | str:
        return text if text in names else int(text)

    return number_or_name


def check_attention(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Ends with an error where the options of pictures contradict each other."""
    chosen = {
        f"--{name.replace('_', '-')}": getattr(arguments, name)
        for name in ("kind", "layer", "head", "words", "hide_special", "numbers")
    }
    given = [name for name, value in chosen.items() if value is not None and value is not False]
    if arguments.attention is None:
        if given:
            parser.error(f"{given[0]} needs --attention")
        return
    suffix = arguments.attention.suffix.lower()
    if suffix not in (*PICTURES, PAGE):
        parser.error(f"--attention FILE must end in {', '.join((*PICTURES, PAGE))}")
    if suffix == PAGE and given:
        parser.error(f"{given[0]} is for pictures: the page has everything to choose from")
    if arguments.sentence is None and not (suffix == PAGE and arguments.input):
        parser.error("--attention needs a sentence, or --input and a .html page")
    for name in ("resume", "json", "scores", "alignment", "prefix", "n_best"):
        if getattr(arguments, name) not in (None, False):
            parser.error(f"--attention goes without --{name.replace('_', '-')}")


def load(arguments: argparse.Namespace):
    """The translator, with the options of the command line."""
    from transformer_tf.checkpoint import find_checkpoint

    given = {name: getattr(arguments, name) for name in SEARCH}
    overrides = [f"decoding.{name}={value}" for name, value in given.items() if value is not None]
    if arguments.scores or arguments.json:
        overrides.append("decoding.scores=true")
    if arguments.replace_unknowns:
        overrides.append("decoding.replace_unknowns=true")
    if arguments.alignment:
        overrides.append("decoding.alignment=true")
    folder = find_checkpoint(project_folder(), arguments.checkpoint)
    if arguments.engine == "ctranslate2":
        from transformer_tf.export.ctranslate2 import load_translator

        return load_translator(folder, overrides)
    import_keras_quietly()
    if arguments.sentence is not None:
        leave_graphs_as_they_are()
    from transformer_tf.translator import Translator

    return Translator.load(folder, overrides)


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
        yield line.removesuffix("\n")


def main() -> None:
    """Translates what the command line says."""
    arguments = parse_arguments()
    from transformer_tf.text import lines as text_lines

    for text, what in (arguments.sentence, "the sentence"), (arguments.prefix, "--prefix"):
        if text is not None:
            # Bytes of the command line that are not UTF-8 arrive as lone surrogates.
            text_lines.split_lines(text.encode("utf-8", "surrogateescape"), what)
    number_of_lines = None
    if arguments.input and not is_pipe(arguments.input):  # a pipe can be read but once
        number_of_lines = text_lines.count_lines(arguments.input)
    if arguments.output and not arguments.output.parent.is_dir():
        raise DataError(f"Cannot write {arguments.output}: there is no such folder")
    files = [path for path in (arguments.input, arguments.output) if path and path.exists()]
    if len(files) == 2 and files[0].samefile(files[1]):
        raise DataError(f"{arguments.output} would be written over while it is read")

    translator = load(arguments)
    if arguments.resume and translator.options.n_best > 1 and not arguments.json:
        raise ConfigError(
            "--resume needs one line for each line, but decoding.n_best is "
            f"{translator.options.n_best} in the checkpoint: say --n-best 1, or --json"
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
    """Translates sentences a block at a time and writes each block when it is done."""
    from transformer_tf.text.lines import LineWriter, blocks
    from transformer_tf.translations import format_translations

    with LineWriter(arguments.output, arguments.resume, total) as writer:
        for number, block in blocks(sentences, at_a_time, skip=writer.done):
            found = translator.search(
                block,
                prefixes=None if arguments.prefix is None else [arguments.prefix] * len(block),
                on_cut=warn_of_cut,
                first=number - 1,
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
    """Writes lines to --output, or else to standard output."""
    from transformer_tf.text.lines import LineWriter

    with LineWriter(arguments.output) as writer:
        writer.write(lines)


def warn_of_cut(text: str, parts: int) -> None:
    """Says that a text was too long to be translated as one."""
    print(
        f"warning: a text of {len(text.split())} words is translated in {parts} parts",
        file=sys.stderr,
    )


def draw(translator, arguments: argparse.Namespace) -> list[str]:
    """Draws the attention of the sentence, or of the lines of --input; returns the translations."""
    from transformer_tf.attention_maps import save_figure, save_page
    from transformer_tf.text.cleaning import normalize_text
    from transformer_tf.text.lines import iterate_lines

    if arguments.attention.suffix.lower() != PAGE:
        attention = translator.attend(arguments.sentence)
        figure = attention.plot(
            arguments.kind or "cross",
            arguments.layer,
            "all" if arguments.head is None else arguments.head,
            words=arguments.words,
            special=not arguments.hide_special,
            numbers=arguments.numbers,
        )
        save_figure(figure, arguments.attention)
        return [attention.translation]
    if arguments.input:
        with arguments.input.open("rb") as file:
            lines = list(islice(iterate_lines(file, str(arguments.input)), MOST_ON_A_PAGE + 1))
    else:
        lines = [arguments.sentence]
    if len(lines) > MOST_ON_A_PAGE:
        raise DataError(f"A page holds at most {MOST_ON_A_PAGE} sentences; --input has more")
    for number, line in enumerate(lines, 1):
        if normalize_text(line) and not translator.fits(line):
            raise TransformerTFError(
                f"Line {number} has more than {translator.max_source_length} sub-words, too many "
                "for a map"
            )
    attended = [
        translator.attend(line, number) if translator.fits(line) else None
        for number, line in enumerate(lines)
    ]
    pages = [attention.page() for attention in attended if attention]
    if not pages:
        raise TransformerTFError("There is no attention to show for an empty sentence")
    save_page(pages, arguments.attention)
    return [attention.translation if attention else "" for attention in attended]


def command() -> int:
    """The command `transformer-tf-translate`; returns its exit status."""
    return run_command(main)
