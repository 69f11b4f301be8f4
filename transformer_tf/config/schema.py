"""The configuration of a run: a frozen dataclass for each section, with defaults."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from transformer_tf.config.section import Section, key
from transformer_tf.errors import ConfigError
from transformer_tf.text.symbols import TAGS
from transformer_tf.utils.languages import listed_code

# A translation has at most this many times as many sub-words as its source, plus ten.
MAX_LENGTH_RATIO, MAX_EXTRA_LENGTH = 2, 10

NonNegativeInt = Annotated[int, Meta(ge=0)]
PositiveInt = Annotated[int, Meta(ge=1)]
NonNegativeFloat = Annotated[float, Meta(ge=0)]
PositiveFloat = Annotated[float, Meta(gt=0)]
Share = Annotated[float, Meta(ge=0, lt=1)]
ShareOfRun = Annotated[float, Meta(gt=0, le=0.5)]
Seed = Annotated[int, Meta(ge=0, lt=2**32)]
Files = Annotated[
    tuple[str, ...],
    Meta(min_length=1, max_length=2, description='["pairs.tsv"] or ["lines.en", "lines.de"]'),
]
Columns = Annotated[
    tuple[int | str, int | str],
    Meta(description="two numbers or names, such as [2, 3] or [english, german]"),
]
Tag = Annotated[str, Meta(pattern="^[A-Za-z0-9]*$", description="letters and digits, such as bt")]


def _in_list(value: Any) -> Any:
    """Returns a text in a list, and any other value as it is."""
    return [value] if isinstance(value, str) else value


def _mix_entry(entry: Any) -> Any:
    """Returns an entry of `data.mix` with the list of its files."""
    if isinstance(entry, str):
        return {"files": [entry]}
    if isinstance(entry, Mapping) and "files" in entry:
        return {**entry, "files": _in_list(entry["files"])}
    return entry


@dataclasses.dataclass(frozen=True)
class MixConfig(Section, name="data.mix"):
    """Further training pairs."""

    files: Files = key(
        dataclasses.MISSING, "`FILE` or `[SOURCE, TARGET]`, like an entry of `data.files`."
    )
    weight: Annotated[float, Meta(gt=0, le=100)] = key(
        1.0, "How often an epoch shows each pair; 0.5 shows it in every second epoch."
    )
    tag: Tag = key(
        "", "A source token in front of these pairs, such as `bt` for back-translations."
    )
    swap: bool = key(False, "Whether the target comes first in the files.")
    columns: Columns | None = key(None, "The columns to read, like `data.columns`.")


@dataclasses.dataclass(frozen=True)
class DataConfig(Section, name="data"):
    """The sentence pairs."""

    corpus: str = key(
        "phrasebook",
        "`phrasebook` (generated, needs no network), `tatoeba`, `multi30k`, `tfds:NAME` (a "
        "translation dataset of TensorFlow Datasets) or `files`.",
    )
    files: tuple[Files, ...] = key(
        (),
        "The training pairs; implies `corpus: files`. A file, or a list of `FILE` (a table with "
        "tabs, semicolons or commas) and `[SOURCE, TARGET]` (two files with a sentence per line). "
        "Plain, .gz, .bz2, .xz, or a member of an archive, written ARCHIVE/MEMBER.",
    )
    validation_files: tuple[Files, ...] = key(
        (), "The validation pairs; by default the corpus's own, or a random sample."
    )
    test_files: tuple[Files, ...] = key(
        (), "The test pairs; by default the corpus's own, or a random sample."
    )
    swap: bool = key(
        False, "Whether the target comes first in `files`, `validation_files` and `test_files`."
    )
    columns: Columns | None = key(
        None,
        "The columns of the source and the target in these files, by number or by their names in "
        "the first line, such as `[2, 3]` or `[english, german]`; by default those that the first "
        "line names by the languages, else the first two.",
    )
    mix: tuple[MixConfig, ...] = key(
        (),
        "Further training pairs for any corpus: a file, or a list such as `[{files: a.tsv, weight: "
        "0.5, tag: bt}]`. `tag` adds a source token in front.",
    )
    source_language: str = key("en", "Language to translate from, as a two-letter code.")
    target_language: str = key("de", "Language to translate into, as a two-letter code.")
    held_out_size: NonNegativeInt = key(
        2000,
        "Number of validation pairs, and of test pairs, each if the corpus has none of its own; "
        "together at most a tenth of the pairs.",
    )
    max_length: PositiveInt = key(
        100, "Training pairs with more sub-words on one side are left out."
    )
    placeholders: bool = key(
        False,
        "Whether times, money, numbers, dates, names and other values become placeholders that the "
        "model copies, see `transformer_tf.text.placeholders`. Needs a `trained` tokenizer.",
    )

    def __post_init__(self) -> None:
        """Puts single files into lists and names languages by their codes; checks each value."""
        entry_of = dict.fromkeys(("files", "validation_files", "test_files"), _in_list)
        for name, convert in {**entry_of, "mix": _mix_entry}.items():
            entries = _in_list(getattr(self, name))
            if isinstance(entries, list | tuple):
                entries = [convert(entry) for entry in entries]
            object.__setattr__(self, name, entries)  # the section is frozen
        super().__post_init__()
        for name in ("source_language", "target_language"):
            object.__setattr__(self, name, listed_code(getattr(self, name)))


@dataclasses.dataclass(frozen=True)
class TokenizerConfig(Section, name="tokenizer"):
    """The sub-word tokenizers."""

    kind: Literal["trained", "bpemb"] = key(
        "trained",
        "`trained`: a BPE trained on the training pairs, which keeps case and digits and encodes "
        "any text; `bpemb`: an official BPEmb model, lower case, every digit a 0.",
    )
    vocab_size: PositiveInt | Literal["auto"] = key(
        8000,
        "Number of sub-words of each model; for `trained` models, `auto` chooses it by the number "
        "of training pairs.",
    )
    shared: bool = key(False, "Whether both languages share one `trained` model.")


@dataclasses.dataclass(frozen=True)
class ModelConfig(Section, name="model"):
    """The sizes and options of the Transformer."""

    num_layers: Annotated[int, Meta(ge=1, le=1000)] = key(4, "Number of encoder layers.")
    num_decoder_layers: Annotated[int, Meta(ge=1, le=1000)] | None = key(
        None, "Number of decoder layers; by default as many as encoder layers."
    )
    d_model: PositiveInt = key(128, "Size of the vector of each position.")
    num_heads: PositiveInt = key(8, "Number of attention heads of each layer; divides d_model.")
    d_ff: PositiveInt = key(512, "Size of the hidden layer of the feed-forward networks.")
    dropout_rate: Share = key(0.1, "Dropout of the embeddings and of each sub-layer's output.")
    pre_norm: bool = key(False, "Whether to normalize before each sub-layer instead of after it.")
    tie_embeddings: Literal["none", "target", "all"] = key(
        "none",
        "`target`: the target embedding is also the output projection; `all`: the source embedding "
        "is, too, with a shared tokenizer; or `none`.",
    )
    position: Literal["sinusoidal", "learned"] = key(
        "sinusoidal",
        "`sinusoidal` or `learned` positional encodings; learned ones for the data.max_length "
        "sub-words, start and end of a sentence.",
    )


@dataclasses.dataclass(frozen=True)
class TrainingConfig(Section, name="training"):
    """The training."""

    max_epochs: PositiveInt = key(30, "Passes over the training pairs.")
    max_steps: PositiveInt | None = key(
        None, "Maximum number of batches to train on; no limit by default."
    )
    max_minutes: PositiveFloat | None = key(
        None, "Time limit in minutes, all parts of a resumed run together; none by default."
    )
    tokens_per_batch: PositiveInt = key(
        1024, "Maximum number of tokens of a batch on either side, padding included."
    )
    max_buckets: PositiveInt = key(16, "Maximum number of different padded batch shapes.")
    optimizer: Literal["adam", "muon"] = key(
        "adam",
        "`adam`, as in the paper, or `muon`, which needs fewer steps and more time for each.",
    )
    warmup_steps: PositiveInt | ShareOfRun = key(
        0.1,
        "Number of steps until the learning rate reaches its maximum; or, up to 0.5, the share of "
        "the run's steps.",
    )
    learning_rate_scale: PositiveFloat = key(
        1.0, "The maximum of the learning rate as a multiple of (d_model * 4000)^-0.5, the paper's."
    )
    cooldown_steps: NonNegativeInt | ShareOfRun = key(
        0,
        "Number of steps at the end of the run over which the learning rate falls to zero; or, "
        "up to 0.5, their share of the run; 0 for none, as in the paper.",
    )
    clip_norm: PositiveFloat | None = key(
        None, "Maximum norm of the gradient of all weights; a larger gradient is scaled down."
    )
    label_smoothing: Share = key(0.0, "Share of the probability that is spread over all tokens.")
    ema_decay: Share = key(
        0.0,
        "Decay per step of an exponential moving average of the weights, such as 0.999, which is "
        "then validated and saved; 0 for no average.",
    )
    devices: PositiveInt = key(
        1, "Number of devices of this process that share each batch; more than 1 needs JAX."
    )
    precision: Literal["float32", "mixed_float16", "mixed_bfloat16"] = key(
        "float32", "Keras dtype policy, such as `float32` or `mixed_bfloat16`."
    )
    validate_every: PositiveInt | None = key(
        None,
        "Number of batches between validations; by default an epoch, or a tenth of a run of fewer "
        "than ten epochs.",
    )
    patience: PositiveInt | None = key(
        None, "Stop after this many validations without a lower perplexity; never by default."
    )
    seed: Seed = key(0, "Seed of all random numbers.")
    start_from: Path | None = key(
        None,
        "A checkpoint to continue from, such as en-de or runs/NAME: its weights, tokenizers and "
        "sizes, with a new optimizer. By default the weights are random.",
    )
    samples: tuple[str, ...] | None = key(
        None, "Sentences to translate at each validation; by default three of the validation set."
    )


@dataclasses.dataclass(frozen=True)
class AlignmentHeads(Section, name="decoding.alignment"):
    """The cross-attention heads that align the words of a translation with those of its source.

    The query of a target word is the decoder position that produces it (`output`), or the next
    one, which reads it (`input`; Chen et al. 2020, "Accurate Word Alignment Induction from Neural
    Machine Translation"). `output` tends to suit the last layers, `input` the lower ones.
    """

    layer: PositiveInt = key(dataclasses.MISSING, "The decoder layer, from 1.")
    heads: Annotated[
        tuple[PositiveInt, ...], Meta(min_length=1, description="a list of numbers, such as [1, 5]")
    ] = key(dataclasses.MISSING, "The heads of this layer, from 1, whose mean aligns words.")
    query: Literal["output", "input"] = key(
        "output",
        "The decoder position whose attention aligns a word: the one that produces it (`output`) "
        "or the next one, which reads it (`input`).",
    )

    def maps(self) -> list[tuple[int, int]]:
        """Returns layer and head of each head, from 0."""
        return [(self.layer - 1, head - 1) for head in self.heads]


@dataclasses.dataclass(frozen=True)
class DecodingConfig(Section, name="decoding"):
    """The search for translations."""

    beam_size: Annotated[int, Meta(ge=1, le=100)] = key(
        1, "Number of hypotheses in beam search; 1 is greedy search."
    )
    length_penalty: NonNegativeFloat = key(
        0.6,
        "In beam search, divide log-probabilities by ((5 + length) / 6) to this power (Wu et al. "
        "2016); 0.6 as in §6.1 of the paper, 0 for none.",
    )
    max_length: PositiveInt = key(
        100, "Maximum number of sub-words of a translation, the end token included."
    )
    alignment: AlignmentHeads | None = key(
        None,
        "The cross-attention heads that align words, such as `{layer: 3, heads: [1, 5]}`; by "
        "default the mean of the last layer's heads. `benchmark.py alignment` finds the best.",
    )
    split_sentences: bool = key(False, "Whether to translate the sentences of a text one by one.")

    def limit(self, source_length: int, prefix_length: int = 0) -> int:
        """Returns the largest number of sub-words of a translation.

        Args:
            source_length: Number of sub-words of the source, start and end included.
            prefix_length: Number of sub-words of the prefix that the translation begins with.
        """
        longest = MAX_LENGTH_RATIO * source_length + MAX_EXTRA_LENGTH + prefix_length
        return min(self.max_length, longest)


@dataclasses.dataclass(frozen=True)
class Config:
    """The configuration of a run."""

    data: DataConfig = DataConfig()
    tokenizer: TokenizerConfig = TokenizerConfig()
    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()
    decoding: DecodingConfig = DecodingConfig()

    def __post_init__(self) -> None:
        """Checks values that depend on each other.

        Raises:
            ConfigError: One line that names the key.
        """
        if self.data.held_out_size == 0:  # a corpus may do without, a run may not
            raise ConfigError("data.held_out_size must be at least 1, not 0")
        model, tokenizer = self.model, self.tokenizer
        self._check_alignment()
        if model.d_model % model.num_heads:
            raise ConfigError(
                "model.d_model must be a multiple of model.num_heads, "
                f"not {model.d_model} for {model.num_heads} heads"
            )
        if tokenizer.kind == "bpemb" and self.data.placeholders:
            raise ConfigError("data.placeholders needs tokenizer.kind=trained")
        if tokenizer.kind == "bpemb" and tokenizer.shared:
            raise ConfigError("tokenizer.shared needs tokenizer.kind=trained")
        if tokenizer.kind == "bpemb" and tokenizer.vocab_size == "auto":
            raise ConfigError("tokenizer.vocab_size=auto needs tokenizer.kind=trained")
        if model.tie_embeddings == "all" and not tokenizer.shared:
            raise ConfigError("model.tie_embeddings=all needs tokenizer.shared=true")
        self._check_files()
        self._check_mix()
        longest = self.data.max_length + 2  # start and end
        # The decoder reads a translation after the start token.
        if model.position == "learned" and self.decoding.max_length > longest - 1:
            raise ConfigError(
                "decoding.max_length must be at most data.max_length + 1 with "
                f"model.position=learned, {longest - 1}, not {self.decoding.max_length}"
            )
        if longest > self.training.tokens_per_batch:
            raise ConfigError(
                "training.tokens_per_batch must hold at least one sentence of data.max_length + 2 "
                f"= {longest} tokens, not {self.training.tokens_per_batch}"
            )

    def _check_alignment(self) -> None:
        """Checks that the model has the alignment layer and its heads."""
        alignment = self.decoding.alignment
        if alignment is None:
            return
        layers = self.model.num_decoder_layers or self.model.num_layers
        if alignment.layer > layers:
            raise ConfigError(
                f"decoding.alignment.layer must be from 1 to {layers}, not {alignment.layer}"
            )
        for head in alignment.heads:
            if head > self.model.num_heads:
                raise ConfigError(
                    f"decoding.alignment.heads must be from 1 to {self.model.num_heads}, not {head}"
                )

    def _check_mix(self) -> None:
        """Checks the tags and the columns of `data.mix`."""
        if any(entry.columns and entry.swap for entry in self.data.mix):
            raise ConfigError("data.mix: columns names the source first: leave out swap")
        tags = {entry.tag for entry in self.data.mix if entry.tag}
        if tags and self.tokenizer.kind != "trained":
            raise ConfigError("data.mix: tag needs tokenizer.kind=trained")
        if len(tags) > len(TAGS):
            raise ConfigError(f"data.mix: at most {len(TAGS)} different tags, not {len(tags)}")

    def _check_files(self) -> None:
        """Checks the keys that name files."""
        if self.data.files and self.data.corpus != "files":
            raise ConfigError(f"data.files needs data.corpus=files, not {self.data.corpus}")
        data = self.data
        if data.swap and not (data.files or data.validation_files or data.test_files):
            raise ConfigError(
                "data.swap is for data.files, data.validation_files and data.test_files"
            )
        if data.columns and data.swap:
            raise ConfigError("data.columns names the source first: leave out data.swap")
        if self.data.corpus == "files" and not self.data.files:
            raise ConfigError(
                'data.corpus=files needs data.files, such as [["a.tsv"], ["b.en.gz", "b.de.gz"]]'
            )
