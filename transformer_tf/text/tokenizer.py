"""Text ↔ sub-word ids, over the `BPEmb` class (Heinzerling and Strube 2018)."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterable
from pathlib import Path

from bpemb import BPEmb

from transformer_tf.errors import ConfigError, DataError
from transformer_tf.text.download import fetch

BPEMB_URL = "https://nlp.h-its.org/bpemb"
# The files of the project are fixed; these have been checked.
BPEMB_SHA256 = {
    "en.wiki.bpe.vs10000.model": "843d908206b03fe85f77b2de4220e5ad8574f343afb58bd25bad0c5087103557",
}


class Tokenizer:
    """Cuts text into sub-words and puts it together again.

    A SentencePiece model of n pieces, with `<unk>`, `<s>` and `</s>` as its pieces 0, 1 and 2,
    becomes a vocabulary of n + 2 ids, 10 002 for the 10 000 pieces of the article:

    | id | meaning |
    | --- | --- |
    | 0 | padding |
    | 1 | an unknown piece (`<unk>` has index 0 in the model, which is padding's id here) |
    | 2 … n - 1 | the pieces of the model |
    | n | start |
    | n + 1 | end |

    Args:
        model_file: A SentencePiece model.
        lowercase: Whether text is prepared as for the official BPEmb models: in lower case, with
            every digit a 0.

    Raises:
        DataError: If `model_file` is missing or not a SentencePiece model.
    """

    pad_id = 0
    unk_id = 1

    def __init__(self, model_file: Path, lowercase: bool = False):
        self.model_file = Path(model_file)
        self.lowercase = lowercase
        try:
            # Without `lang` BPEmb wants some `emb_file`; `segmentation_only` never opens it.
            self.bpemb = BPEmb(
                model_file=self.model_file,
                emb_file=self.model_file,
                preprocess=lowercase,
                segmentation_only=True,
            )
        except (OSError, RuntimeError) as error:
            raise DataError(f"{self.model_file} is missing or not a SentencePiece model") from error
        self.start_id = self.bpemb.vocab_size
        self.end_id = self.bpemb.vocab_size + 1
        self.vocab_size = self.bpemb.vocab_size + 2

    @classmethod
    def official(cls, language: str, vocab_size: int, directory: Path) -> Tokenizer:
        """An official BPEmb model, read from the data directory or downloaded there.

        Args:
            language: A Wikipedia language code, such as `en`.
            vocab_size: Number of pieces; the models come in a few sizes for each language.
            directory: The data directory; the file is `bpemb/en/en.wiki.bpe.vs10000.model`.

        Raises:
            ConfigError: If there is no model of that language and size.
            DataError: If the model can neither be found nor downloaded.
        """
        try:
            sizes = BPEmb.available_vocab_sizes(language)
        except ValueError:
            sizes = set()
        if vocab_size not in sizes:
            offered = ", ".join(map(str, sorted(sizes))) or "no size at all"
            raise ConfigError(
                f"BPEmb has no model for language {language!r} with tokenizer.vocab_size="
                f"{vocab_size}; it offers {offered}"
            )
        name = f"{language}.wiki.bpe.vs{vocab_size}.model"
        path = fetch(
            f"bpemb/{language}/{name}",
            f"{BPEMB_URL}/{language}/{name}",
            Path(directory),
            BPEMB_SHA256.get(name),
        )
        return cls(path, lowercase=True)

    @classmethod
    def train(cls, sentences: Iterable[str], vocab_size: int, model_file: Path) -> Tokenizer:
        """Trains a BPE model that keeps case and digits and encodes any Unicode text.

        Every digit is a piece of its own, so that numbers are copied digit by digit, and a
        character that the sentences never show is spelt in the bytes of its UTF-8 form.

        Args:
            sentences: Text to learn from.
            vocab_size: Number of pieces, 256 bytes and 3 control pieces among them.
            model_file: Where to write the model.

        Raises:
            ConfigError: If the sentences do not yield so many pieces.
        """
        import sentencepiece

        model = io.BytesIO()
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=iter(sentences),
                model_writer=model,
                model_type="bpe",
                vocab_size=vocab_size,
                character_coverage=0.9999,
                byte_fallback=True,
                split_digits=True,
                normalization_rule_name="identity",
                unk_id=0,
                bos_id=1,
                eos_id=2,
                pad_id=-1,
                minloglevel=2,
            )
        except RuntimeError as error:
            reason = " ".join(str(error).split()).rpartition("] ")[2]
            raise ConfigError(
                f"tokenizer.vocab_size={vocab_size} does not fit the training text: {reason}"
            ) from error
        Path(model_file).write_bytes(model.getvalue())
        return cls(model_file)

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without start and end."""
        return [index or self.unk_id for index in self.bpemb.encode_ids(text)]

    def encode_sentence(self, text: str) -> list[int]:
        """The ids of a text as the model reads it: start, the sub-words, end."""
        return [self.start_id, *self.encode(text), self.end_id]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids; padding, start and end are left out."""
        # `BPEmb.decode_ids` takes a list of ids for a list of texts under today's SentencePiece.
        return self.bpemb.spm.decode_ids(self._pieces(ids))

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """A label for each id, with a leading `▁` where a word begins."""
        special = {self.pad_id: "<pad>", self.start_id: "<start>", self.end_id: "<end>"}
        special[self.unk_id] = "<unk>"
        piece = self.bpemb.spm.id_to_piece
        return [special[i] if i in special else piece(i) for i in map(int, ids)]

    def _pieces(self, ids: Iterable[int]) -> list[int]:
        """The model's own piece indices."""
        left_out = (self.pad_id, self.start_id, self.end_id)
        return [0 if i == self.unk_id else i for i in map(int, ids) if i not in left_out]


def save_tokenizers(source: Tokenizer, target: Tokenizer, folder: Path) -> None:
    """Copies the models of both languages into a folder, as `source.model`, `target.model`."""
    folder.mkdir(parents=True, exist_ok=True)
    for tokenizer, name in ((source, "source.model"), (target, "target.model")):
        if tokenizer.model_file.resolve() != (folder / name).resolve():
            shutil.copyfile(tokenizer.model_file, folder / name)


def load_tokenizers(folder: Path, lowercase: bool = False) -> tuple[Tokenizer, Tokenizer]:
    """Reads the two tokenizers that `save_tokenizers` wrote."""
    source = Tokenizer(folder / "source.model", lowercase)
    return source, Tokenizer(folder / "target.model", lowercase)
