"""Writes the training data and the held-out pairs of a translator in `checkpoints`.

python -m tools.corpora {en-de,de-en,en-es} FOLDER

The sources are read from the data directory, $TRANSFORMER_TF_DATA. Prints the number of pairs and
the SHA-256 of each file.
"""

import argparse
import hashlib
import sys
from pathlib import Path

from tools.corpora import prepare, untranslated
from transformer_tf.text.corpora.corpus import HELD_OUT, load_held_out
from transformer_tf.text.corpora.sources import data_directory
from transformer_tf.utils.lines import write_lines
from transformer_tf.utils.startup import run_command

CHECKPOINTS = Path(__file__).parents[2] / "checkpoints"


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser("python -m tools.corpora", description=__doc__.splitlines()[0])
    parser.add_argument("languages", choices=("en-de", "de-en", "en-es"))
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    arguments = parser.parse_args()
    swap = arguments.languages == "de-en"  # its held-out pairs are those of en-de
    language = "es" if arguments.languages == "en-es" else "de"
    held_out = {name: load_held_out(CHECKPOINTS / f"en-{language}", name) for name in HELD_OUT}
    arguments.folder.mkdir(parents=True, exist_ok=True)
    data = data_directory()
    pairs_by_file = prepare(language, data, held_out, swap)
    files = {
        f"{name}.tsv": ["\t".join(pair) for pair in pairs_by_file[name]] for name in pairs_by_file
    }
    if language == "de":
        files["untranslated.txt"] = untranslated(data, "en" if swap else "de", pairs_by_file)
    for name, lines in files.items():
        path = arguments.folder / name
        write_lines(path, lines)
        print(f"{name:22} {len(lines):7} {hashlib.sha256(path.read_bytes()).hexdigest()}")


if __name__ == "__main__":
    sys.exit(run_command(main))
