"""Averages the weights of two checkpoints of one form: python -m tools.average FIRST LAST OUTPUT.

The mean of a model before and after a further stage of training is often better than both
(Wortsman et al. 2022, "Robust fine-tuning of zero-shot models"). LAST counts with the weights at
its end: its best ones may be those of its start. The other files are those of LAST.
"""

import shutil
import sys
from pathlib import Path

from transformer_tf.checkpoint import (
    BEST_WEIGHTS,
    LAST_WEIGHTS,
    load_checkpoint,
    load_weights,
    save_weights,
)
from transformer_tf.errors import CheckpointError
from transformer_tf.export.folders import check_place, new_folder
from transformer_tf.hashes import record_hashes
from transformer_tf.utils.startup import import_keras_quietly, run_command

OF_WEIGHTS = ("*.weights.h5", "hashes.txt", "state.npz", "test.json", "attention.png", ".lock")


def main(first: Path, last: Path, output: Path) -> None:
    """Writes the new checkpoint.

    Raises:
        CheckpointError: If the models have other shapes or vocabularies, or `output` exists and is
            not empty.
    """
    import_keras_quietly()
    check_place(output)
    (_, old, *old_tokenizers), (_, new, *new_tokenizers) = map(load_checkpoint, (first, last))
    if (last / LAST_WEIGHTS).is_file():
        load_weights(new, last / LAST_WEIGHTS)
    pairs = list(zip(old.get_weights(), new.get_weights(), strict=False))
    if old.count_params() != new.count_params() or any(a.shape != b.shape for a, b in pairs):
        raise CheckpointError(f"{first} and {last} have other shapes")
    if [each.vocabulary for each in old_tokenizers] != [each.vocabulary for each in new_tokenizers]:
        raise CheckpointError(f"{first} and {last} have other vocabularies")
    new.set_weights([(one + other) / 2 for one, other in pairs])
    with new_folder(output) as folder:
        shutil.copytree(last, folder, ignore=shutil.ignore_patterns(*OF_WEIGHTS))
        save_weights(new, folder / BEST_WEIGHTS)
        record_hashes(folder)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(run_command(lambda: main(*map(Path, sys.argv[1:]))))
