"""BPEmb's pretrained vectors as a start for the embeddings (Heinzerling and Strube 2018)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors

from transformer_tf.errors import DataError
from transformer_tf.text.archives import unpack_member
from transformer_tf.text.download import fetch
from transformer_tf.text.tokenizer import Tokenizer, bpemb_url


def official_vectors(
    tokenizer: Tokenizer, language: str, dimensions: int, directory: Path
) -> np.ndarray:
    """The vectors that belong to an official BPEmb model, scaled for our embeddings.

    They were made by GloVe on the language's Wikipedia. As a whole they are scaled to the
    variance with which embeddings begin here, 1 / dimensions, so that position and content weigh
    as much as in an untrained model.

    Args:
        tokenizer: The official model of the language.
        language: A Wikipedia language code, such as `en`.
        dimensions: Size of a vector, 25, 50, 100, 200 or 300.
        directory: The data directory. For English with 10 000 pieces and 100 dimensions the file
            is `bpemb/en/en.wiki.bpe.vs10000.d100.w2v.bin`, unpacked from the archive of the same
            name and `.tar.gz`, which is downloaded if neither is there.

    Returns:
        `float32` array `(vocab_size, dimensions)`. Rows of ids that have no vector (padding, and
        pieces that are missing in the file) are NaN, for the caller to leave as they were.

    Raises:
        DataError: If the file can neither be found nor downloaded, or is damaged.
    """
    name = f"{tokenizer.model_file.stem}.d{dimensions}.w2v.bin"
    path = Path(directory) / "bpemb" / language / name
    if not path.is_file():
        archive = fetch(
            f"bpemb/{language}/{name}.tar.gz", f"{bpemb_url(language)}/{name}.tar.gz", directory
        )
        unpack_member(archive, name, path)
    try:
        keyed = KeyedVectors.load_word2vec_format(str(path), binary=True)
    except (OSError, EOFError, ValueError, UnicodeDecodeError) as error:
        raise DataError(
            f"{path} is not a complete file of vectors: delete it and run again"
        ) from error
    if keyed.vector_size != dimensions:
        raise DataError(f"{path} has vectors of size {keyed.vector_size}, not {dimensions}")
    return vectors_of_ids(tokenizer, keyed)


def vectors_of_ids(tokenizer: Tokenizer, keyed: KeyedVectors) -> np.ndarray:
    """Vectors of pieces as rows of ids, with variance 1 / dimensions; NaN where there is none.

    Args:
        tokenizer: Says which id a piece has.
        keyed: Vectors of pieces, with `<s>` and `</s>` for start and end.

    Raises:
        DataError: If the file has next to none of the tokenizer's pieces: it belongs to another.
    """
    rows = np.full((tokenizer.vocab_size, keyed.vector_size), np.nan, dtype="float32")
    names = tokenizer.tokens(range(tokenizer.vocab_size))
    names[tokenizer.unk_id] = "<unk>"
    names[tokenizer.start_id], names[tokenizer.end_id] = "<s>", "</s>"
    for index, name in enumerate(names):
        if name in keyed.key_to_index and index != tokenizer.pad_id:
            rows[index] = keyed[name]
    found = ~np.isnan(rows[:, 0])
    if found.mean() < 0.5:
        raise DataError(
            f"Only {found.sum()} of {len(rows)} pieces have a vector: the file of vectors is not "
            f"that of {tokenizer.model_file}"
        )
    scale = keyed.vector_size**-0.5 / max(float(rows[found].std()), 1e-12)
    return rows * np.float32(scale)
