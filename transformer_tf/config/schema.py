"""The configuration of a run: a frozen dataclass for each section, with defaults."""

from __future__ import annotations

import dataclasses
import difflib
from pathlib import Path
from typing import Any, Literal

from transformer_tf.config.ranges import (
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    PositiveShare,
    Ratio,
    Seed,
    Share,
    StepsOrShare,
    StepsOrShareOrNone,
    check_ranges,
)
from transformer_tf.errors import ConfigError

BPEMB_DIMENSIONS = (25, 50, 100, 200, 300)
MAX_WEIGHT = 100
MAX_TAGS = 8


@dataclasses.dataclass(frozen=True)
class MixConfig:
    """Further training pairs.

    Attributes:
        files: `[FILE]` or `[SOURCE, TARGET]`, like an entry of `data.files`.
        weight: How often an epoch shows each pair; 0.5 shows it in every second epoch.
        tag: A source token in front of these pairs, such as `bt` for back-translations.
        swap: Whether the target comes first in the files.
    """

    files: tuple[str, ...]
    weight: float = 1.0
    tag: str = ""
    swap: bool = False


@dataclasses.dataclass(frozen=True)
class DataConfig:
    """The sentence pairs.

    Attributes:
        corpus: `phrasebook` (generated, needs no network), `tatoeba`, `multi30k`, `tfds:NAME`
            (a translation dataset of TensorFlow Datasets) or `files`.
        files: The training pairs; implies `corpus: files`. A list of `[FILE]` (lines of source,
            tab, target; .csv; .tmx) and `[SOURCE, TARGET]` (two files with a sentence per line).
            Plain, .gz, .bz2, .xz, or a member of an archive, written ARCHIVE/MEMBER.
        validation_files: The validation pairs; by default the corpus's own, or a random sample.
        test_files: The test pairs; by default the corpus's own, or a random sample.
        swap: Whether the target comes first in `files`, `validation_files` and `test_files`.
        mix: Further training pairs for any corpus, a list such as
            `[{files: [a.tsv], weight: 0.5, tag: bt}]`. `tag` adds a source token in front.
        source_language: Language to translate from, as a two-letter code.
        target_language: Language to translate into, as a two-letter code.
        directory: Folder of downloaded data; by default $TRANSFORMER_TF_DATA or a cache folder.
        cache_directory: Folder of prepared data; by default $TRANSFORMER_TF_CACHE or a cache
            folder. It can be deleted at any time.
        validation_size: Number of validation pairs, if the corpus has none of its own.
        test_size: Number of test pairs, if the corpus has none of its own.
        max_pairs: Maximum number of training pairs; all by default.
        max_length: Training pairs with more sub-words on one side are left out.
        max_length_ratio: Training pairs are left out if one side has more than 60 bytes of UTF-8
            and more than this many times the bytes of the other.
        slots: Whether numbers, addresses and unknown names become placeholders that the model
            copies, see `transformer_tf.text.slots`. Needs a `trained` tokenizer.
    """

    corpus: str = "phrasebook"
    files: tuple[tuple[str, ...], ...] = ()
    validation_files: tuple[tuple[str, ...], ...] = ()
    test_files: tuple[tuple[str, ...], ...] = ()
    swap: bool = False
    mix: tuple[MixConfig, ...] = ()
    source_language: str = "en"
    target_language: str = "de"
    directory: Path | None = None
    cache_directory: Path | None = None
    validation_size: PositiveInt = 2000
    test_size: PositiveInt = 2000
    max_pairs: PositiveInt | None = None
    max_length: PositiveInt = 100
    max_length_ratio: Ratio = 4.0
    slots: bool = False


@dataclasses.dataclass(frozen=True)
class TokenizerConfig:
    """The sub-word tokenizers.

    Attributes:
        kind: `trained`: a BPE trained on the training pairs, which keeps case and digits and
            encodes any text; `bpemb`: an official BPEmb model, lower case, every digit a 0.
        vocab_size: Number of sub-words of each model; for `trained` models, `auto` chooses it by
            the number of training pairs.
        shared: Whether both languages share one `trained` model.
        dropout: Share of the merges that BPE-dropout skips at random in each epoch; usually 0.1,
            0 for none.
        init_embeddings: Whether to initialize the embeddings with the pretrained vectors of the
            `bpemb` models; needs a model.d_model of 25, 50, 100, 200 or 300.
    """

    kind: Literal["trained", "bpemb"] = "trained"
    vocab_size: PositiveInt | Literal["auto"] = 8000
    shared: bool = False
    dropout: Share = 0.0
    init_embeddings: bool = False


@dataclasses.dataclass(frozen=True)
class ModelConfig:
    """The sizes and options of the Transformer.

    Attributes:
        num_layers: Number of encoder layers.
        num_decoder_layers: Number of decoder layers; by default as many as encoder layers.
        d_model: Size of the vector of each position.
        num_heads: Number of attention heads of each layer; divides d_model.
        d_ff: Size of the hidden layer of the feed-forward networks.
        dropout_rate: Dropout of the embeddings and of each sub-layer's output.
        pre_norm: Whether to normalize before each sub-layer instead of after it.
        tie_embeddings: `target`: the target embedding is also the output projection; `all`: the
            source embedding is, too, with a shared tokenizer; or `none`.
        position: `sinusoidal` or `learned` positional encodings.
        max_length: Number of `learned` positions.
    """

    num_layers: PositiveInt = 4
    num_decoder_layers: PositiveInt | None = None
    d_model: PositiveInt = 128
    num_heads: PositiveInt = 8
    d_ff: PositiveInt = 512
    dropout_rate: Share = 0.1
    pre_norm: bool = False
    tie_embeddings: Literal["none", "target", "all"] = "none"
    position: Literal["sinusoidal", "learned"] = "sinusoidal"
    max_length: PositiveInt = 512


@dataclasses.dataclass(frozen=True)
class TrainingConfig:
    """The training.

    Attributes:
        max_epochs: Passes over the training pairs.
        max_steps: Maximum number of batches to train on; no limit by default.
        max_minutes: Time limit in minutes, all parts of a resumed run together; none by default.
        tokens_per_batch: Maximum number of tokens of a batch on either side, padding included.
        max_buckets: Maximum number of different padded batch shapes.
        accumulation_steps: Number of batches whose gradients make one update, as if they were one
            batch.
        warmup_steps: Number of updates until the learning rate reaches its maximum; or, up to 0.5,
            the share of the run's updates.
        learning_rate_scale: The maximum of the learning rate as a multiple of
            (d_model * 4000)^-0.5, the paper's.
        cooldown_steps: Number of updates at the end of the run over which the learning rate falls
            to zero; or, up to 0.5, their share of the run; 0 for none, as in the paper.
        clip_norm: Maximum norm of the gradient of all weights; a larger gradient is scaled down.
        label_smoothing: Share of the probability that is spread over all tokens.
        ema_decay: Decay per step of an exponential moving average of the weights, such as
            0.999, which is then validated and saved; 0 for no average.
        devices: Number of devices of this process that share each batch; more than 1 needs JAX.
        precision: Keras dtype policy, such as `float32` or `mixed_bfloat16`.
        validate_every: Number of batches between validations; by default an epoch, or a tenth of
            a run of fewer than ten epochs.
        best_metric: Metric of the best weights on the validation set: `perplexity`, or the `bleu`
            or `chrf` of the translations.
        patience: Stop after this many validations without a better score; never by default.
        tensorboard: Whether to write curves, sample translations and their attention for
            TensorBoard.
        seed: Seed of all random numbers.
        start_from: A checkpoint to continue from: its weights, tokenizers and sizes, with a new
            optimizer. By default the weights are random.
        directory: Folder of the run; by default a new one in `runs`.
        samples: Sentences to translate at each validation; by default three of the validation set.
    """

    max_epochs: PositiveInt = 30
    max_steps: PositiveInt | None = None
    max_minutes: PositiveFloat | None = None
    tokens_per_batch: PositiveInt = 1024
    max_buckets: PositiveInt = 16
    accumulation_steps: PositiveInt = 1
    warmup_steps: StepsOrShare = 0.1
    learning_rate_scale: PositiveFloat = 1.0
    cooldown_steps: StepsOrShareOrNone = 0
    clip_norm: PositiveFloat | None = None
    label_smoothing: Share = 0.0
    ema_decay: Share = 0.0
    devices: PositiveInt = 1
    precision: Literal["float32", "mixed_float16", "mixed_bfloat16"] = "float32"
    validate_every: PositiveInt | None = None
    best_metric: Literal["perplexity", "bleu", "chrf"] = "perplexity"
    patience: PositiveInt | None = None
    tensorboard: bool = False
    seed: Seed = 0
    start_from: Path | None = None
    directory: Path | None = None
    samples: tuple[str, ...] | None = None


@dataclasses.dataclass(frozen=True)
class DecodingConfig:
    """The search for translations.

    Attributes:
        batch_size: Number of sentences to translate at a time.
        beam_size: Number of hypotheses in beam search; 1 is greedy search.
        n_best: Number of translations of each sentence, at most `beam_size`.
        length_penalty: In beam search, divide log-probabilities by ((5 + length) / 6) to this
            power (Wu et al. 2016); 0.6 as in §6.1 of the paper, 0 for none.
        max_length: Maximum number of sub-words of a translation, the end token included.
        max_length_ratio: A translation has at most this many times as many sub-words as its
            source, plus ten.
        min_length: Minimum number of sub-words of a translation.
        temperature: Sample tokens from softmax(logits / temperature) instead of choosing the most
            probable one; 0 for no sampling. Needs `beam_size` 1.
        top_k: Sample from this many of the most probable tokens; 0 for all.
        top_p: Sample from the most probable tokens with this total probability; 1 for all.
        seed: Seed of the samples.
        precision: Keras dtype policy; `float32` translates best, whatever the training used.
        scores: Whether greedy search and sampling return log-probabilities, too.
        replace_unknowns: Whether an unknown sub-word in a translation becomes the source word with
            the most attention. Only `bpemb` tokenizers have unknown sub-words.
        alignment: Whether to return word alignments, from the cross-attention.
        alignment_layer: The decoder layer to align with, from 1; None for the last.
        alignment_heads: The heads of that layer, from 1, to average; empty for all.
        alignment_query: The decoder position whose attention aligns a word: the one that produces
            it (`output`) or the next one, which reads it (`input`). `benchmark.py alignment`
            finds the best setting.
        restore: Whether to restore capitals and digits in the translations of `bpemb` models,
            which are in lower case with every digit a 0. A truecaser restores the capitals, the
            source the digits.
        recase: Whether a sentence in capitals, which models rarely see in training, is translated
            in lower case and its translation put in capitals.
        split_sentences: Whether to translate the sentences of a text one by one.
        check_slots: Whether beam search prefers hypotheses with every slot of the source exactly
            once, if the model was trained with `data.slots`. A sentence that has lost one is
            searched again with twice the beam.
    """

    batch_size: PositiveInt = 64
    beam_size: PositiveInt = 1
    n_best: PositiveInt = 1
    length_penalty: NonNegativeFloat = 0.6
    max_length: PositiveInt = 100
    max_length_ratio: NonNegativeFloat = 2.0
    min_length: NonNegativeInt = 0
    temperature: NonNegativeFloat = 0.0
    top_k: NonNegativeInt = 0
    top_p: PositiveShare = 1.0
    seed: Seed = 0
    precision: Literal["float32", "mixed_float16", "mixed_bfloat16"] = "float32"
    scores: bool = False
    replace_unknowns: bool = False
    alignment: bool = False
    alignment_layer: int | None = None
    alignment_heads: tuple[int, ...] = ()
    alignment_query: Literal["output", "input"] = "output"
    restore: bool = True
    recase: bool = True
    split_sentences: bool = False
    check_slots: bool = True

    def __post_init__(self) -> None:
        """Checks the range of each value, and values that depend on each other.

        Raises:
            ConfigError: One line that names the key.
        """
        object.__setattr__(self, "alignment_heads", tuple(self.alignment_heads))  # from a list
        check_ranges(self, "decoding")
        if self.n_best > self.beam_size:
            raise ConfigError(
                f"decoding.n_best must be at most decoding.beam_size, not {self.n_best} of "
                f"{self.beam_size}"
            )
        if self.temperature and self.beam_size > 1:
            raise ConfigError("decoding.temperature needs decoding.beam_size=1")
        if self.min_length >= self.max_length:
            raise ConfigError(
                f"decoding.min_length must be less than decoding.max_length, not {self.min_length}"
            )

    def change(self, **changes: Any) -> DecodingConfig:
        """Returns the options with other values.

        Args:
            **changes: The new values.

        Raises:
            TypeError: If there is no such option; the message names the nearest one.
            ConfigError: If a value is not valid, or has no effect without a temperature.
        """
        names = [field.name for field in dataclasses.fields(self)]
        for name in changes:
            if name not in names:
                nearest = difflib.get_close_matches(name, names, n=1)
                hint = f"Did you mean `{nearest[0]}`?" if nearest else f"Options: {names}"
                raise TypeError(f"There is no option `{name}`. {hint}")
        changed = dataclasses.replace(self, **changes)
        for name in ("top_k", "top_p", "seed"):
            if name in changes and not changed.temperature:
                raise ConfigError(
                    f"decoding.{name} has no effect unless decoding.temperature is above 0"
                )
        return changed

    def limit(self, source_length: int, prefix_length: int = 0) -> int:
        """Returns the largest number of sub-words of a translation.

        Args:
            source_length: Number of sub-words of the source, start and end included.
            prefix_length: Number of sub-words of the prefix that the translation begins with.
        """
        return min(self.max_length, int(self.max_length_ratio * source_length) + 10 + prefix_length)


@dataclasses.dataclass(frozen=True)
class Config:
    """The configuration of a run.

    Attributes:
        data: The sentence pairs.
        tokenizer: The sub-word tokenizers.
        model: The sizes and options of the Transformer.
        training: The training.
        decoding: The search for translations.
    """

    data: DataConfig = DataConfig()
    tokenizer: TokenizerConfig = TokenizerConfig()
    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()
    decoding: DecodingConfig = DecodingConfig()

    def __post_init__(self) -> None:
        """Checks the range of each value, and values that depend on each other.

        Raises:
            ConfigError: One line that names the key.
        """
        for section in ("data", "tokenizer", "model", "training"):
            check_ranges(getattr(self, section), section)
        model, tokenizer, training = self.model, self.tokenizer, self.training
        if training.precision == "mixed_float16" and training.accumulation_steps > 1:
            raise ConfigError(
                "training.accumulation_steps needs float32 or mixed_bfloat16: with mixed_float16 "
                "some batches are skipped, and the groups of batches would shift"
            )
        self._check_alignment()
        if model.d_model % model.num_heads:
            raise ConfigError(
                "model.d_model must be a multiple of model.num_heads, "
                f"not {model.d_model} for {model.num_heads} heads"
            )
        if tokenizer.kind == "bpemb" and self.data.slots:
            raise ConfigError("data.slots needs tokenizer.kind=trained")
        if tokenizer.kind == "bpemb" and tokenizer.shared:
            raise ConfigError("tokenizer.shared needs tokenizer.kind=trained")
        if tokenizer.kind == "bpemb" and tokenizer.vocab_size == "auto":
            raise ConfigError("tokenizer.vocab_size=auto needs tokenizer.kind=trained")
        if model.tie_embeddings == "all" and not tokenizer.shared:
            raise ConfigError("model.tie_embeddings=all needs tokenizer.shared=true")
        if tokenizer.init_embeddings and (
            tokenizer.kind != "bpemb" or model.d_model not in BPEMB_DIMENSIONS
        ):
            raise ConfigError(
                "tokenizer.init_embeddings needs tokenizer.kind=bpemb and model.d_model="
                f"{'|'.join(map(str, BPEMB_DIMENSIONS))}, not {tokenizer.kind} and {model.d_model}"
            )
        self._check_files()
        self._check_mix()
        longest = max(self.data.max_length, self.decoding.max_length) + 2  # start and end
        if model.position == "learned" and model.max_length < longest:
            raise ConfigError(
                f"model.max_length must be at least {longest}, the longest sentence of "
                f"data.max_length and decoding.max_length with start and end, "
                f"not {model.max_length}"
            )
        if self.data.max_length + 2 > self.training.tokens_per_batch:
            raise ConfigError(
                "training.tokens_per_batch must hold at least one sentence of data.max_length + 2 "
                f"= {self.data.max_length + 2} tokens, not {self.training.tokens_per_batch}"
            )

    def _check_alignment(self) -> None:
        """Checks that the model has the alignment layer and its heads."""
        layer, heads = self.decoding.alignment_layer, self.decoding.alignment_heads
        layers = self.model.num_decoder_layers or self.model.num_layers
        if layer is not None and not 1 <= layer <= layers:
            raise ConfigError(f"decoding.alignment_layer must be from 1 to {layers}, not {layer}")
        for head in heads:
            if not 1 <= head <= self.model.num_heads:
                raise ConfigError(
                    f"decoding.alignment_heads must be from 1 to {self.model.num_heads}, not {head}"
                )

    def _check_mix(self) -> None:
        """Checks the files, weights and tags of `data.mix`."""
        for entry in self.data.mix:
            if len(entry.files) not in (1, 2):
                raise ConfigError("data.mix: files is [FILE] or [SOURCE, TARGET]")
            if not 0 < entry.weight <= MAX_WEIGHT:
                raise ConfigError(
                    f"data.mix: weight must be more than 0 and at most {MAX_WEIGHT}, "
                    f"not {entry.weight}"
                )
            if entry.tag and not (entry.tag.isascii() and entry.tag.isalnum()):
                raise ConfigError(
                    f"data.mix: tag must be letters and digits, such as bt, not {entry.tag!r}"
                )
        tags = {entry.tag for entry in self.data.mix if entry.tag}
        if tags and self.tokenizer.kind != "trained":
            raise ConfigError("data.mix: tag needs tokenizer.kind=trained")
        if len(tags) > MAX_TAGS:
            raise ConfigError(f"data.mix: at most {MAX_TAGS} different tags, not {len(tags)}")

    def _check_files(self) -> None:
        """Checks the keys that name files."""
        lists = {
            key: getattr(self.data, key) for key in ("files", "validation_files", "test_files")
        }
        for key, entries in lists.items():
            if any(len(entry) not in (1, 2) for entry in entries):
                raise ConfigError(
                    f"data.{key} is a list of [FILE] and [SOURCE, TARGET], such as "
                    '[["a.tsv"], ["b.en.gz", "b.de.gz"]]'
                )
        if self.data.files and self.data.corpus != "files":
            raise ConfigError(f"data.files needs data.corpus=files, not {self.data.corpus}")
        if self.data.swap and not any(lists.values()):
            raise ConfigError(
                "data.swap is for data.files, data.validation_files and data.test_files"
            )
        if self.data.corpus == "files" and not self.data.files:
            raise ConfigError(
                'data.corpus=files needs data.files, such as [["a.tsv"], ["b.en.gz", "b.de.gz"]]'
            )
