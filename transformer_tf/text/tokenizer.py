"""Text ↔ sub-word ids, over the `BPEmb` class (Heinzerling and Strube 2018)."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import sentencepiece
from bpemb import BPEmb

from transformer_tf.errors import ConfigError, DataError
from transformer_tf.files import write_whole
from transformer_tf.text.merges import MergeDropout
from transformer_tf.text.restoring import Truecaser, restore

MAX_TRAINING_SENTENCES = 1_000_000
# The files of the project are fixed; these have been checked.
BPEMB_HASHES = {
    "en.wiki.bpe.vs10000.model": (
        "sha256:843d908206b03fe85f77b2de4220e5ad8574f343afb58bd25bad0c5087103557"
    ),
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
        truecaser: Knows how words of the language are cased, to `restore` what `lowercase` loses.

    Raises:
        DataError: If `model_file` is missing or not a SentencePiece model.
    """

    pad_id = 0
    unk_id = 1

    def __init__(
        self, model_file: Path, lowercase: bool = False, truecaser: Truecaser | None = None
    ):
        self.model_file = Path(model_file)
        self.lowercase = lowercase
        self.truecaser = truecaser
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
        self.content = self.model_file.read_bytes()
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
        from transformer_tf.text.download import fetch  # and all that a download needs

        name = f"{language}.wiki.bpe.vs{vocab_size}.model"
        path = fetch(
            f"bpemb/{language}/{name}",
            f"{bpemb_url(language)}/{name}",
            Path(directory),
            BPEMB_HASHES.get(name),
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
        return self.encode_sentences([text])[0][1:-1]

    def encode_sentence(self, text: str) -> list[int]:
        """The ids of a text as the model reads it: start, the sub-words, end."""
        return self.encode_sentences([text])[0]

    def encode_sentences(
        self, texts: Sequence[str], dropout: float = 0.0, seed: int = 0
    ) -> list[list[int]]:
        """The ids of many texts, each with start and end.

        Args:
            texts: The texts.
            dropout: Share of the merges that are skipped, for BPE-dropout (Provilkov et al.
                2020): rare words come in many spellings, which regularises the training.
            seed: Seed of the dropout.
        """
        if self.lowercase:
            texts = [self.bpemb.preprocess(text) for text in texts]
        model = self.bpemb.spm
        if dropout:
            drop = MergeDropout(self._piece_scores(), dropout, seed)
            sentences = model.encode(list(texts), out_type=str)
            encoded = [model.piece_to_id(drop.cut(pieces)) for pieces in sentences]
        else:
            encoded = model.encode(list(texts), out_type=int)
        # The model's index of unknown pieces is 0, the id of padding here.
        return [
            [self.start_id, *(index or self.unk_id for index in ids), self.end_id]
            for ids in encoded
        ]

    def _piece_scores(self) -> dict[str, float]:
        """The pieces that merges make, with their scores."""
        model = self.bpemb.spm
        return {
            model.id_to_piece(index): model.get_score(index)
            for index in range(model.get_piece_size())
            if not (model.is_control(index) or model.is_unknown(index) or model.is_byte(index))
        }

    def pieces(self, text: str) -> list[str]:
        """The sub-words of a text as they are written there, an unknown one too.

        Returns:
            As many as `encode` returns ids; a leading `▁` where a word begins.
        """
        if self.lowercase:
            text = self.bpemb.preprocess(text)
        return self.bpemb.spm.encode(text, out_type=str)

    def decode(self, ids: Iterable[int], unknowns: Sequence[str] | None = None) -> str:
        """The text of ids; padding, start and end are left out.

        Args:
            ids: The ids.
            unknowns: What to write for each unknown piece; None to write ` ⁇ `.
        """
        pieces = self._pieces(ids)
        if unknowns:
            written = iter(unknowns)
            spelt = [self.bpemb.spm.id_to_piece(i) if i else next(written) for i in pieces]
            return self.bpemb.spm.decode_pieces(spelt)
        # `BPEmb.decode_ids` takes a list of ids for a list of texts under today's SentencePiece.
        return self.bpemb.spm.decode_ids(pieces)

    def restore(self, text: str, source: str) -> str:
        """Gives a decoded text back what `lowercase` took away, as far as that can be known.

        Args:
            text: A translation.
            source: The sentence that it translates, for its digits.

        Returns:
            The text with digits and capitals; unchanged if the tokenizer keeps them anyway.
        """
        return restore(text, source, self.truecaser) if self.lowercase else text

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

    @property
    def fingerprint(self) -> bytes:
        """A hash of everything that `encode` depends on."""
        return hashlib.sha256(self.content + bytes([self.lowercase])).digest()

    def save(self, path: Path) -> None:
        """Writes all that `load` needs: the model, its settings and the truecaser if there is one.

        Args:
            path: Where the model goes, such as `source.model`; the other files beside it are
                named alike.

        Raises:
            DataError: If a file cannot be written.
        """
        settings = {
            "lowercase": self.lowercase,
            "sha256": hashlib.sha256(self.content).hexdigest(),
        }
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, self.content)
            if self.truecaser:
                self.truecaser.save(path.with_suffix(".truecase.tsv"))
            write_whole(path.with_suffix(".json"), json.dumps(settings).encode())
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
        except OSError as error:
            raise DataError(f"Cannot read {settings_file}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{settings_file} is damaged") from error
        tokenizer = cls(path, lowercase)
        if hashlib.sha256(tokenizer.content).hexdigest() != sha256:
            raise DataError(f"{path} is not the model that {settings_file} names")
        truecase_file = path.with_suffix(".truecase.tsv")
        if truecase_file.exists():
            tokenizer.truecaser = Truecaser.load(truecase_file)
        return tokenizer


def training_sentences(pairs: Sequence[tuple[str, str]], side: int) -> Iterator[str]:
    """The sentences of a side to train a tokenizer on.

    Args:
        pairs: The training pairs.
        side: 0 for the sources, 1 for the targets.

    Returns:
        All of them; of more than a million, about a million from everywhere, which is enough and
        all that memory can be expected to hold.
    """
    step = -(-len(pairs) // MAX_TRAINING_SENTENCES) or 1
    return (pairs[index][side] for index in range(0, len(pairs), step))


def bpemb_url(language: str) -> str:
    """The address of the folder with the files of a language."""
    # The multilingual models have moved.
    base = BPEmb.base_url_multi if language == "multi" else BPEmb.base_url
    return f"{base}{language}"
