"""A checkpoint to start another language pair from: the same weights, another vocabulary.

python -m tools.new_vocabulary checkpoints/en-de configs/english_spanish.yaml runs/start-en-es \
    [section.key=value ...]

The tokenizers are trained on the corpus of the configuration. A sub-word of both vocabularies keeps
its embedding; another one starts with the mean embedding of the old sub-words that spell it.
"""

import dataclasses
import shutil
import sys
from pathlib import Path

import h5py
import numpy as np

from transformer_tf.checkpoint import BEST_WEIGHTS, open_checkpoint, save_checkpoint
from transformer_tf.config import load_config
from transformer_tf.errors import ConfigError
from transformer_tf.export.folders import check_place, new_folder
from transformer_tf.hashes import record_hashes
from transformer_tf.text.corpora.corpus import load_corpus
from transformer_tf.text.tokenization.tokenizer import Tokenizer
from transformer_tf.utils.startup import import_keras_quietly, run_command
from transformer_tf.weights import SCALE


def old_ids(new: Tokenizer, old: Tokenizer) -> list[list[int]]:
    """Returns for each id of a vocabulary the ids of another one that spell it.

    Args:
        new: The tokenizer with the new vocabulary of n + 2 ids.
        old: The tokenizer with the old vocabulary of m + 2 ids.

    Returns:
        n + 2 lists of ids below m + 2; a sub-word of both vocabularies has its old id alone.
    """
    positions = {
        old.processor.id_to_piece(index): index for index in range(old.processor.get_piece_size())
    }
    rows = []
    for index in range(new.processor.get_piece_size()):
        piece = new.processor.id_to_piece(index)
        if piece in positions:
            rows.append([positions[piece]])
            continue
        text = piece.replace("▁", " ")
        ids = old.encode(text.strip())
        if not text.startswith(" "):  # the old tokenizer begins each text with a space
            ids = [id for id in ids if old.processor.id_to_piece(id) != "▁"] or ids
        rows.append(ids)
    return [*rows, [old.start_id], [old.end_id]]


def replace_rows(path: Path, rows: list[list[int]], size: int) -> int:
    """Gives each array of a `.weights.h5` file that has a row for each old id its new rows.

    Args:
        path: The file, changed in place.
        rows: The old ids of each new id, as `old_ids` returns them.
        size: The size of the old vocabulary.

    Returns:
        The number of arrays changed.
    """
    names: list[str] = []

    def collect(name: str, item: h5py.Group | h5py.Dataset) -> None:
        rows_of_ids = isinstance(item, h5py.Dataset) and item.shape[:1] == (size,)
        if rows_of_ids and not name.endswith(SCALE):
            names.append(name)

    with h5py.File(path, "r+") as file:
        file.visititems(collect)
        for name in names:
            old = file[name][()]
            if name + SCALE in file:  # in 8 bits
                old = old * file[name + SCALE][()]
                del file[name + SCALE]
            new = np.stack([old[ids].mean(0, dtype="float32") for ids in rows]).astype(old.dtype)
            del file[name]
            file[name] = new
    return len(names)


def main(checkpoint: Path, config_file: Path, output: Path, overrides: list[str]) -> None:
    """Writes the new checkpoint and prints how many sub-words keep their embedding.

    Raises:
        CheckpointError: If `output` exists and is not empty.
        ConfigError: If the two languages of the old checkpoint have embeddings of their own.
    """
    import_keras_quietly()
    from transformer_tf.runs.tokenizers import make_tokenizers

    check_place(output)
    old_config, weights, old, _ = open_checkpoint(checkpoint)
    config = load_config(config_file, overrides)
    if not old_config.tokenizer.shared or old_config.model.tie_embeddings == "none":
        raise ConfigError(f"{checkpoint} needs a shared tokenizer and tied embeddings")
    if not config.tokenizer.shared:
        raise ConfigError("The new vocabulary is for both languages: tokenizer.shared=true")
    config = dataclasses.replace(config, model=old_config.model)
    corpus = load_corpus(config.data, config.training.seed)
    with new_folder(output) as folder:
        folder.mkdir(parents=True)
        tokenizers = make_tokenizers(config.tokenizer, config.data, corpus, folder)
        save_checkpoint(folder, config, *tokenizers)
        rows = old_ids(tokenizers[0], old)
        shutil.copy(weights, folder / BEST_WEIGHTS)
        changed = replace_rows(folder / BEST_WEIGHTS, rows, old.vocab_size)
        record_hashes(folder)
    kept = len({*tokenizers[0].vocabulary} & {*old.vocabulary})
    print(f"{kept} of {len(rows)} sub-words keep their embedding; {changed} arrays changed")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    start, file, folder = map(Path, sys.argv[1:4])
    sys.exit(run_command(lambda: main(start, file, folder, sys.argv[4:])))
