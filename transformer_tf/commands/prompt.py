"""Reads sentences that the user types."""

import contextlib
import io
import sys
from collections.abc import Iterator

HELP = """Type a sentence and press Enter to translate it.
The arrow keys edit the line and recall earlier sentences.
:help shows this text. quit, exit, an empty line or Ctrl-D ends the program."""
END = ("", "quit", "exit", ":quit", ":exit")


def prompt() -> Iterator[str]:
    """Yields the sentences that the user types, until one of `END` or Ctrl-D."""
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
        if line.strip() in END:
            return
        if line.strip() == ":help":
            print(HELP, file=sys.stderr)
        else:
            yield line
