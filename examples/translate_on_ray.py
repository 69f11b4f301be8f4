"""Translates a large file on several processes or machines with Ray Data.

    python -m pip install ".[ray]"
    python examples/translate_on_ray.py english.txt german.txt --workers 4

Line n of the output translates line n of the input. On a cluster, run it on a machine of the
cluster; each machine needs transformer_tf and the checkpoint at the same path. On one machine
`scripts/translate.py --input FILE --output FILE` is simpler and uses all processors, too.
"""

import argparse
from pathlib import Path

import ray

from transformer_tf import Translator
from transformer_tf.catalog import find_checkpoint
from transformer_tf.utils.lines import read_lines, write_lines

LINES_PER_BLOCK = 1024  # a worker takes a block at a time


class TranslateLines:
    """A worker: it loads the translator once, then translates batches of lines.

    Args:
        checkpoint: The folder of the translator.
    """

    def __init__(self, checkpoint):
        self.translator = Translator.load(checkpoint, engine="numpy")
        self.translator.engine.workers = 1  # Ray gives each worker one processor

    def __call__(self, batch):
        return {"translation": self.translator.translate(batch["item"].tolist())}


def translate_file(source, target, checkpoint="en-de", workers=2):
    """Translates the lines of a file, in their order."""
    ray.data.DataContext.get_current().execution_options.preserve_order = True
    lines = read_lines(Path(source))
    blocks = max(-(-len(lines) // LINES_PER_BLOCK), workers)
    translated = ray.data.from_items(lines, override_num_blocks=blocks).map_batches(
        TranslateLines,
        fn_constructor_args=[str(find_checkpoint(checkpoint).resolve())],
        concurrency=workers,
        num_cpus=1,
        batch_size=LINES_PER_BLOCK,
    )
    write_lines(Path(target), (row["translation"] for row in translated.iter_rows()))


def main():
    parser = argparse.ArgumentParser(
        description="Translate a large file on several processes or machines with Ray Data."
    )
    parser.add_argument("source", metavar="INPUT", help="a sentence on each line")
    parser.add_argument("target", metavar="OUTPUT", help="its translation on each line")
    parser.add_argument("--checkpoint", metavar="NAME", default="en-de")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="number of processes")
    translate_file(**vars(parser.parse_args()))


if __name__ == "__main__":
    main()
