"""Converts text to sub-word ids and back, with trained or official SentencePiece models.

The official models come from BPEmb (Heinzerling and Strube 2018).
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import sentencepiece

from transformer_tf.errors import ConfigError, DataError, one_line
from transformer_tf.text import symbols
from transformer_tf.utils.files import atomic_write_bytes

MAX_TRAINING_SENTENCES = 1_000_000
# Spanish writes them before a word without a space. Our models read a space after them, so that
# "gato" has the same sub-words in "¡gato!" as elsewhere.
OPENING_MARKS = "¡¿"
# BPEmb publishes no hashes. This is the hash of a verified copy.
BPEMB_HASHES = {
    "en.wiki.bpe.vs10000.model": (
        "sha256:843d908206b03fe85f77b2de4220e5ad8574f343afb58bd25bad0c5087103557"
    ),
}


class Tokenizer:
    """Splits text into sub-words and joins them again.

    A SentencePiece model of n pieces has `<unk>`, `<s>` and `</s>` as its pieces 0, 1 and 2. It
    becomes a vocabulary of n + 2 ids, 10 002 for the 10 000 pieces of the article:

    | id | meaning |
    | --- | --- |
    | 0 | padding |
    | 1 | an unknown piece (`<unk>` is piece 0 of the model, but 0 is padding here) |
    | 2 … n - 1 | the pieces of the model |
    | n | start |
    | n + 1 | end |

    Args:
        model_file: A SentencePiece model.
        lowercase: Whether text is prepared as for the official BPEmb models: in lower case, with
            every digit a 0.
        tags: The names of the source tags of the training data, such as `["bt"]`.

    Attributes:
        processor: The `sentencepiece.SentencePieceProcessor`.
        space_after_opening_marks: Whether the model reads a space after "¡" and "¿", and writes
            none.
        content: The bytes of the model file.
        known_words: The words of the training sources, if unknown names become placeholders.

    Raises:
        DataError: If `model_file` is missing or not a BPE model.
    """

    pad_id = 0
    unk_id = 1

    def __init__(
        self,
        model_file: Path,
        lowercase: bool = False,
        tags: Sequence[str] = (),
    ):
        self.model_file = Path(model_file)
        self.lowercase = lowercase
        self.tags = tuple(tags)
        self.known_words: frozenset[str] | None = None
        self.processor = sentencepiece.SentencePieceProcessor()
        try:
            self.content = self.model_file.read_bytes()
            self.processor.LoadFromSerializedProto(self.content)
        except OSError as error:
            raise DataError(f"Cannot read {self.model_file}: {error.strerror}") from error
        except (RuntimeError, ValueError) as error:
            raise DataError(f"{self.model_file} is not a BPE model") from error
        self.space_after_opening_marks = self.processor.normalize("¡a¿a").endswith("¡▁a¿▁a")
        num_pieces = self.processor.get_piece_size()
        self.start_id = num_pieces
        self.end_id = num_pieces + 1
        self.vocab_size = num_pieces + 2

    @classmethod
    def official(cls, language: str, vocab_size: int, directory: Path) -> Tokenizer:
        """Reads an official BPEmb model from the data directory, or downloads it there.

        Args:
            language: A Wikipedia language code, such as `en`.
            vocab_size: Number of pieces. Each language has models of a few sizes.
            directory: The data directory; the file is `bpemb/en/en.wiki.bpe.vs10000.model`.

        Raises:
            ConfigError: If there is no model of that language and size.
            DataError: If the model is not in the data directory and cannot be downloaded.
        """
        from bpemb import BPEmb  # imports gensim, which takes a second

        from transformer_tf.text.corpora.download import fetch

        try:
            sizes = BPEmb.available_vocab_sizes(language)
        except ValueError:
            sizes = set()
        if vocab_size not in sizes:
            offered = ", ".join(map(str, sorted(sizes))) or "none"
            raise ConfigError(
                f"BPEmb has no model for language {language!r} with tokenizer.vocab_size="
                f"{vocab_size}; available sizes: {offered}"
            )
        name = f"{language}.wiki.bpe.vs{vocab_size}.model"
        # The multilingual models have moved.
        base = BPEmb.base_url_multi if language == "multi" else BPEmb.base_url
        url = f"{base}{language}/{name}"
        path = fetch(f"bpemb/{language}/{name}", url, Path(directory), BPEMB_HASHES.get(name))
        return cls(path, lowercase=True)

    @classmethod
    def train(
        cls,
        sentences: Iterable[str],
        vocab_size: int,
        model_file: Path,
        tags: Sequence[str] = (),
        exact: bool = True,
    ) -> Tokenizer:
        """Trains a BPE model that keeps case and digits and encodes any Unicode text.

        Every digit is a piece of its own, so that numbers are copied digit by digit. A character
        that is not in the sentences is encoded as the bytes of its UTF-8 form. The 16 reserved
        characters of `transformer_tf.text.symbols` are pieces as well. If both "¡" and "¿" are
        pieces, a space is read after them, and dropped in `decode`; the model file has this rule.

        Args:
            sentences: Text to learn from.
            vocab_size: Number of pieces, including 256 bytes, 16 reserved characters and 3 control
                pieces.
            model_file: Where to write the model.
            tags: The names of the source tags in the sentences.
            exact: Whether fewer pieces are an error.

        Raises:
            ConfigError: If the sentences do not yield this many pieces.
        """
        from sentencepiece import sentencepiece_model_pb2  # only training needs protobuf

        model = io.BytesIO()
        try:
            with _opening_mark_rules() as rules:
                sentencepiece.SentencePieceTrainer.train(
                    sentence_iterator=iter(sentences),
                    model_writer=model,
                    model_type="bpe",
                    vocab_size=vocab_size,
                    hard_vocab_limit=exact,
                    character_coverage=0.99999,
                    byte_fallback=True,
                    split_digits=True,
                    **rules,
                    user_defined_symbols=list(symbols.RESERVED),
                    unk_id=0,
                    bos_id=1,
                    eos_id=2,
                    pad_id=-1,
                    minloglevel=2,
                )
        except RuntimeError as error:
            reason = one_line(error).rpartition("] ")[2]
            raise ConfigError(
                f"tokenizer.vocab_size={vocab_size} does not fit the training text: {reason}"
            ) from error
        proto = sentencepiece_model_pb2.ModelProto.FromString(model.getvalue())
        # A mark in bytes is no piece: the labels would show a space that the text does not have.
        has_marks = {*OPENING_MARKS} <= {piece.piece for piece in proto.pieces}
        for spec in (proto.normalizer_spec, proto.denormalizer_spec):
            spec.ClearField("normalization_rule_tsv")  # a temporary file
            if not has_marks:
                spec.ClearField("precompiled_charsmap")
                spec.name = "identity"
        Path(model_file).write_bytes(proto.SerializeToString(deterministic=True))
        return cls(model_file, tags=tags)

    def encode(self, text: str) -> list[int]:
        """Returns the ids of a text, without start and end."""
        return self.encode_sentence(text)[1:-1]

    def encode_sentence(self, text: str) -> list[int]:
        """Returns the ids of a text as the model reads it: start, sub-words, end."""
        # SentencePiece starts threads for a list, which takes 5 to 50 times as long as one text.
        return self._with_ends(self.processor.encode(self._prepared(text), out_type=int))

    def encode_sentences(self, texts: Sequence[str]) -> list[list[int]]:
        """Returns the ids of many texts, each with start and end."""
        encoded = self.processor.encode([self._prepared(text) for text in texts], out_type=int)
        return [self._with_ends(pieces) for pieces in encoded]

    def _with_ends(self, pieces: Iterable[int]) -> list[int]:
        """Returns the ids of SentencePiece's pieces, between start and end."""
        return [self.start_id, *(piece or self.unk_id for piece in pieces), self.end_id]

    def _prepared(self, text: str) -> str:
        # As `BPEmb.preprocess`, whose import takes a second.
        return re.sub(r"\d", "0", text.lower()) if self.lowercase else text

    def pieces(self, text: str, values: Mapping[str, str] | None = None) -> list[str]:
        """Returns the sub-words of a text, with unknown ones spelled as in the text.

        Args:
            text: A text.
            values: What to show for placeholders.

        Returns:
            As many sub-words as `encode` returns ids, with a leading `▁` where a word begins. A
            reserved character is shown by its label, such as `<bt>`, or its value.
        """
        pieces = self.processor.encode(self._prepared(text), out_type=str)
        return self._labeled(pieces, values)

    def decode(self, ids: Iterable[int]) -> str:
        """Returns the text of ids, with ` ⁇ ` for an unknown piece.

        Padding, start and end are left out, and so are bytes that spell no character.
        """
        left_out = (self.pad_id, self.start_id, self.end_id)
        pieces = [i for i in map(int, ids) if i not in left_out]
        text = self.processor.decode_ids([0 if i == self.unk_id else i for i in pieces])
        return text.replace("\N{REPLACEMENT CHARACTER}", "")

    def tokens(self, ids: Iterable[int], values: Mapping[str, str] | None = None) -> list[str]:
        """Returns a label for each id, with a leading `▁` where a word begins.

        After "¡" none begins, so a label may depend on the id before it; `vocabulary` does not.

        Args:
            ids: The ids.
            values: What to show for placeholders.
        """
        special = {self.pad_id: "<pad>", self.start_id: "<start>", self.end_id: "<end>"}
        special[self.unk_id] = "<unk>"
        piece = self.processor.id_to_piece
        pieces = [special[i] if i in special else piece(i) for i in map(int, ids)]
        return self._labeled(pieces, values)

    def _labeled(self, pieces: Iterable[str], values: Mapping[str, str] | None) -> list[str]:
        shown = symbols.token_labels(self.tags) | dict(values or {})
        labels, before = [], ""
        for piece in pieces:
            label = shown.get(piece, piece)
            if self.space_after_opening_marks and before.endswith(tuple(OPENING_MARKS)):
                label = label.removeprefix("▁")
            labels.append(label)
            before = piece
        return labels

    @property
    def vocabulary(self) -> list[str]:
        """The sub-word of each id as SentencePiece spells it; reserved characters as they are."""
        pieces = map(self.processor.id_to_piece, range(2, self.start_id))
        return ["<pad>", "<unk>", *pieces, "<start>", "<end>"]

    @property
    def alphabet(self) -> frozenset[str] | None:
        """The characters that are not spelled in bytes; None for an official BPEmb model."""
        if self.lowercase:
            return None
        model = self.processor
        pieces = map(model.id_to_piece, range(model.get_piece_size()))
        return frozenset(piece for piece in pieces if len(piece) == 1)

    @property
    def fingerprint(self) -> bytes:
        """A hash of everything that `encode` depends on."""
        return hashlib.sha256(self.content + bytes([self.lowercase])).digest()

    def save(self, path: Path) -> None:
        """Writes the model, its settings and the known words, if there are any.

        Args:
            path: Where the model goes, such as `source.model`. The other files have the same name
                with another suffix.

        Raises:
            DataError: If a file cannot be written.
        """
        settings = {
            "lowercase": self.lowercase,
            "tags": self.tags,
            "sha256": hashlib.sha256(self.content).hexdigest(),
        }
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            atomic_write_bytes(path, self.content)
            if self.known_words is not None:
                words = "".join(f"{word}\n" for word in sorted(self.known_words))
                atomic_write_bytes(path.with_suffix(".words.txt"), words.encode())
            atomic_write_bytes(path.with_suffix(".json"), json.dumps(settings).encode())
        except OSError as error:
            raise DataError(f"Cannot write the tokenizer {path}: {error.strerror}") from error

    @classmethod
    def load(cls, path: Path) -> Tokenizer:
        """Reads what `save` wrote.

        Raises:
            DataError: One line that names the file that is missing or damaged.
        """
        settings_file = path.with_suffix(".json")
        try:
            settings = json.loads(settings_file.read_text(encoding="utf-8"))
            lowercase, sha256 = bool(settings["lowercase"]), settings["sha256"]
            tags = [str(tag) for tag in settings.get("tags", ())]
        except OSError as error:
            raise DataError(f"Cannot read {settings_file}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise DataError(f"{settings_file} is damaged") from error
        tokenizer = cls(path, lowercase, tags=tags)
        if hashlib.sha256(tokenizer.content).hexdigest() != sha256:
            raise DataError(f"{path} is not the model that {settings_file} names")
        words_file = path.with_suffix(".words.txt")
        if words_file.exists():
            try:
                tokenizer.known_words = frozenset(words_file.read_text(encoding="utf-8").split())
            except UnicodeDecodeError as error:
                raise DataError(f"{words_file} is damaged: it is not UTF-8") from error
        return tokenizer


@contextlib.contextmanager
def _opening_mark_rules() -> Iterator[dict[str, Any]]:
    """Yields options of SentencePiece's trainer: a space after "¡" and "¿", and none in a text."""
    codes = [f"{ord(mark):X}" for mark in OPENING_MARKS]
    with tempfile.TemporaryDirectory() as folder:
        apart, together = Path(folder, "apart.tsv"), Path(folder, "together.tsv")
        apart.write_text("".join(f"{code}\t{code} 20\n" for code in codes))
        together.write_text("".join(f"{code} 20\t{code}\n" for code in codes))
        yield {"normalization_rule_tsv": str(apart), "denormalization_rule_tsv": str(together)}


def auto_vocab_size(num_pairs: int) -> int:
    """Returns the size of a vocabulary for a number of training pairs.

    A rule of thumb: 8 000 sub-words for 100 000 pairs, growing with the square root of their
    number. With few pairs, rare sub-words would occur too seldom to be learned.

    Args:
        num_pairs: Number of training pairs.

    Returns:
        A multiple of 100 from 2 000 to 32 000.
    """
    size = 8000 * (num_pairs / 100_000) ** 0.5
    return 100 * round(min(max(size, 2000), 32_000) / 100)


def training_sentences(pairs: Sequence[tuple[str, str]], side: int) -> Iterator[str]:
    """Returns the sentences of one side to train a tokenizer on.

    Args:
        pairs: The training pairs.
        side: 0 for the sources, 1 for the targets.

    Returns:
        All sentences, or about a million of them, evenly spaced, if there are more. SentencePiece
        keeps them in memory.
    """
    step = -(-len(pairs) // MAX_TRAINING_SENTENCES) or 1
    return (pairs[index][side] for index in range(0, len(pairs), step))
