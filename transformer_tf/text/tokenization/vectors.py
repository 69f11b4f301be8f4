"""BPEmb's pretrained vectors as initial embeddings (Heinzerling and Strube 2018)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from transformer_tf.errors import DataError
from transformer_tf.text.corpora.archives import unpack_member
from transformer_tf.text.corpora.download import fetch
from transformer_tf.text.tokenization.tokenizer import Tokenizer, bpemb_url

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


def official_vectors(
    tokenizer: Tokenizer, language: str, dimensions: int, directory: Path
) -> np.ndarray:
    """Reads the vectors of an official BPEmb model and scales them for our embeddings.

    The vectors were trained with GloVe on the language's Wikipedia. They are scaled to variance
    1 / dimensions, as newly initialized embeddings have, so that token and positional embeddings
    keep their relative size.

    Args:
        tokenizer: The official model of the language.
        language: A Wikipedia language code, such as `en`.
        dimensions: Size of a vector, 25, 50, 100, 200 or 300.
        directory: The data directory. For English with 10 000 pieces and 100 dimensions the file
            is `bpemb/en/en.wiki.bpe.vs10000.d100.w2v.bin`. It is unpacked from the `.tar.gz` of
            the same name, which is downloaded if both are missing.

    Returns:
        `float32` array `(vocab_size, dimensions)`. The rows of ids without a vector (padding and
        pieces that the file does not have) are NaN.

    Raises:
        DataError: If the file cannot be downloaded, or is damaged or of another size.
    """
    from gensim.models import KeyedVectors  # takes a second

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
    """Returns a row for each id, with variance 1 / dimensions; NaN for an id without a vector.

    Args:
        tokenizer: The tokenizer of the pieces.
        keyed: Vectors of pieces, with `<s>` and `</s>` for start and end.

    Raises:
        DataError: If less than half of the tokenizer's pieces have a vector.
    """
    rows = np.full((tokenizer.vocab_size, keyed.vector_size), np.nan, dtype="float32")
    names = tokenizer.tokens(range(tokenizer.vocab_size))
    names[tokenizer.start_id], names[tokenizer.end_id] = "<s>", "</s>"
    for index, name in enumerate(names):
        if name in keyed.key_to_index and index != tokenizer.pad_id:
            rows[index] = keyed[name]
    found = ~np.isnan(rows[:, 0])
    if found.mean() < 0.5:
        raise DataError(
            f"Only {found.sum()} of {len(rows)} pieces have a vector: the vectors belong to "
            f"another model than {tokenizer.model_file}"
        )
    scale = keyed.vector_size**-0.5 / max(float(rows[found].std()), 1e-12)
    return rows * np.float32(scale)
