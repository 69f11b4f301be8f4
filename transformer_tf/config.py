"""Everything a run can be told: dataclasses, YAML files and `section.key=value` overrides."""

from __future__ import annotations

import dataclasses
import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_type_hints

import yaml
from jsonargparse import ArgumentError, ArgumentParser

from transformer_tf.errors import ConfigError
from transformer_tf.files import write_whole

SAMPLES = (
    "He admired her as a great director.",
    "I went to the shop to buy something to drink.",
    "He will have written the funniest joke in the world, and as a consequence he will die.",
)


@dataclasses.dataclass(frozen=True)
class DataConfig:
    """Where the sentence pairs come from.

    Attributes:
        corpus: `phrasebook` (generated, needs no network), `tatoeba`, `multi30k`, `tfds:NAME`
            (a translation dataset of TensorFlow Datasets) or `files`.
        files: With `files`, what to train on: a list of `[FILE]`, lines of source, tab, target,
            and of `[SOURCE, TARGET]`, two files with a sentence a line. Plain or .gz, .bz2, .xz,
            .zip, or a member of an archive, written ARCHIVE/MEMBER.
        validation_files: Likewise, to validate on; by default drawn from `files`.
        test_files: Likewise, to test on; by default drawn from `files`.
        source_language: Language to translate from, as a two-letter code.
        target_language: Language to translate into, as a two-letter code.
        directory: Folder of downloaded data; by default $TRANSFORMER_TF_DATA, else a cache folder.
        cache_directory: Folder of prepared data; by default $TRANSFORMER_TF_CACHE, else a cache
            folder. It can be deleted at any time.
        validation_size: Pairs held out for validation after each epoch, if the corpus brings none.
        test_size: Pairs held out for the final test, if the corpus brings none.
        max_pairs: Train on at most so many pairs; all by default.
        max_length: Leave out training pairs with more sub-words than this on one side.
        max_length_ratio: Leave out training pairs of which one side is so many times as long as
            the other, in bytes of UTF-8, and has more than 60.
        variants: So many times the training pairs are added as variants of them: in lower case,
            without a final mark, several on a line, with other names, numbers and addresses.
        max_malformed: Share of malformed lines above which a file is refused; those below are
            left out.
    """

    corpus: str = "phrasebook"
    files: tuple[tuple[str, ...], ...] = ()
    validation_files: tuple[tuple[str, ...], ...] = ()
    test_files: tuple[tuple[str, ...], ...] = ()
    source_language: str = "en"
    target_language: str = "de"
    directory: Path | None = None
    cache_directory: Path | None = None
    validation_size: int = 2000
    test_size: int = 2000
    max_pairs: int | None = None
    max_length: int = 100
    max_length_ratio: float = 4.0
    variants: float = 0.0
    max_malformed: float = 0.01


@dataclasses.dataclass(frozen=True)
class TokenizerConfig:
    """How text is cut into sub-words.

    Attributes:
        kind: `trained`: a BPE trained on the training pairs, which keeps case and digits and
            encodes any text; `bpemb`: an official BPEmb model, lower case, every digit a 0.
        vocab_size: Number of sub-words of a language.
        shared: Whether one `trained` model serves both languages.
        dropout: Share of the merges that BPE-dropout skips, drawn anew each epoch; 0 for none,
            0.1 is usual.
        init_embeddings: Whether the embeddings of `bpemb` models begin with their pretrained
            vectors; model.d_model is then 25, 50, 100, 200 or 300.
    """

    kind: Literal["trained", "bpemb"] = "trained"
    vocab_size: int = 8000
    shared: bool = False
    dropout: float = 0.0
    init_embeddings: bool = False


@dataclasses.dataclass(frozen=True)
class ModelConfig:
    """The sizes and options of the Transformer.

    Attributes:
        num_layers: Number of encoder layers, and of decoder layers.
        d_model: Size of a position's vector.
        num_heads: Number of attention heads of a layer; divides d_model.
        d_ff: Size of the hidden layer of the feed-forward networks.
        dropout_rate: Dropout of the embeddings and of each sub-layer's output.
        pre_norm: Normalise before each sub-layer instead of after it.
        tie_embeddings: `none`; `target`: the target embedding is the output projection too;
            `all`: the source embedding as well, for a shared tokenizer.
        position: `sinusoidal` or `learned` positions.
        max_length: Number of learned positions; not used by `sinusoidal`.
    """

    num_layers: int = 4
    d_model: int = 128
    num_heads: int = 8
    d_ff: int = 512
    dropout_rate: float = 0.1
    pre_norm: bool = False
    tie_embeddings: Literal["none", "target", "all"] = "none"
    position: Literal["sinusoidal", "learned"] = "sinusoidal"
    max_length: int = 512


@dataclasses.dataclass(frozen=True)
class TrainingConfig:
    """How the model is trained.

    Attributes:
        max_epochs: Passes over the training pairs.
        max_steps: Batches to train on, if that is less; no limit by default.
        max_minutes: Minutes to train for, resumed runs counted together, if that is less.
        tokens_per_batch: Most tokens of a batch on either side, padding included.
        max_shapes: Most different padded shapes of a batch.
        accumulation_steps: Batches whose gradients make one update, as if they were one batch.
        warmup_steps: Updates until the learning rate is at its highest.
        learning_rate_scale: Factor on the learning rate of the paper's schedule.
        cooldown_steps: Updates at the end of max_epochs or max_steps over which the learning rate
            falls to zero; 0, as in the paper, for none.
        clip_norm: Longest gradient, of all weights together; longer ones are scaled down to it.
        label_smoothing: Share of the probability spread over all tokens.
        average_decay: Validate and keep an exponential moving average of the weights, of which
            this share stays from step to step, such as 0.999; 0 for the weights as they are.
        devices: Devices of this process that share each batch; more than 1 needs JAX.
        precision: Keras dtype policy, such as `float32` or `mixed_bfloat16`.
        validate_every: Batches between validations; by default an epoch's.
        validation_translations: Sentences translated at each validation for BLEU and chrF, from
            everywhere in the validation set; 0 for none.
        best_metric: What the best weights are best at on the validation set: `perplexity`, or
            `bleu` or `chrf` of the translations.
        patience: Stop after so many validations without a better score; never by default.
        save_minutes: Minutes between the states that a run can be resumed from, beside those at
            each validation.
        keep_states: Number of such states to keep.
        tensorboard: Whether to write curves, sample translations and their attention for
            TensorBoard.
        seed: Seed of everything random.
        directory: Folder of the run; by default a new one under `runs`.
        samples: Sentences that are translated at each validation.
    """

    max_epochs: int = 30
    max_steps: int | None = None
    max_minutes: float | None = None
    tokens_per_batch: int = 1024
    max_shapes: int = 16
    accumulation_steps: int = 1
    warmup_steps: int = 4000
    learning_rate_scale: float = 1.0
    cooldown_steps: int = 0
    clip_norm: float | None = None
    label_smoothing: float = 0.0
    average_decay: float = 0.0
    devices: int = 1
    precision: Literal["float32", "mixed_float16", "mixed_bfloat16"] = "float32"
    validate_every: int | None = None
    validation_translations: int = 200
    best_metric: Literal["perplexity", "bleu", "chrf"] = "perplexity"
    patience: int | None = None
    save_minutes: float = 5.0
    keep_states: int = 2
    tensorboard: bool = False
    seed: int = 0
    directory: Path | None = None
    samples: tuple[str, ...] = SAMPLES


@dataclasses.dataclass(frozen=True)
class DecodingConfig:
    """How translations are searched for.

    Attributes:
        batch_size: Sentences translated at a time.
        beam_size: Number of hypotheses that are extended side by side; 1 is greedy search.
        n_best: Number of translations of a sentence, at most `beam_size`.
        length_penalty: With a beam, log-probabilities are divided by ((5 + length) / 6) to this
            power (Wu et al. 2016); 0.6 as in §6.1 of the paper, 0 for none.
        coverage_penalty: With a beam, the weight of source tokens that were little looked at.
        max_length: Most sub-words of a translation, its end included.
        max_length_ratio: A short source has a nearer end: so many times its length, plus ten.
        min_length: Fewest sub-words of a translation.
        temperature: Draw tokens at random from softmax(logits / temperature) instead of taking
            the likeliest; 0 for no chance. Needs `beam_size` 1.
        top_k: Draw from this many of the likeliest tokens; 0 for all.
        top_p: Draw from the likeliest tokens that have this share together; 1 for all.
        seed: Seed of the draws.
        precision: What is computed in; whatever the training was in, float32 translates best.
        scores: Whether greedy search and sampling tell log-probabilities too.
        replace_unknowns: Whether an unknown sub-word of a translation becomes the source word that
            was looked at most. The tokenizers of `trained` spell everything and know no unknown.
        alignment: Whether to tell which words belong together, from cross-attention.
        alignment_layer: The layer that tells it, from 1; None for the last.
        alignment_heads: Its heads, from 1, whose mean is taken; empty for all.
        alignment_query: The query that asks for a word: the one that says it (`output`), or the one
            that reads it (`input`). `evaluate.py --alignments` finds what aligns best.
        restore: Whether translations of a `bpemb` model, all lower case and every digit a 0, get
            capitals by a truecaser learned from the training text and digits from the source.
        recase: Whether a text all in capitals, which no model has read much of, is translated in
            small letters and put in capitals again.
        split_sentences: Whether several sentences in a text are translated one by one.
    """

    batch_size: int = 64
    beam_size: int = 1
    n_best: int = 1
    length_penalty: float = 0.6
    coverage_penalty: float = 0.0
    max_length: int = 100
    max_length_ratio: float = 2.0
    min_length: int = 0
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
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

    def __post_init__(self) -> None:
        """Checks what a type alone does not say.

        Raises:
            ConfigError: One line that names the key.
        """
        object.__setattr__(self, "alignment_heads", tuple(self.alignment_heads))  # a list will do
        for key in ("batch_size", "beam_size", "n_best", "max_length"):
            if getattr(self, key) < 1:
                raise ConfigError(f"decoding.{key} must be at least 1, not {getattr(self, key)}")
        for key in (
            "length_penalty", "coverage_penalty", "max_length_ratio", "min_length", "temperature",
            "top_k",
        ):  # fmt: skip
            if not getattr(self, key) >= 0:  # not nan either
                raise ConfigError(f"decoding.{key} must be at least 0, not {getattr(self, key)}")
        if not 0 <= self.seed < 2**32:
            raise ConfigError(
                f"decoding.seed must be at least 0 and less than 2**32, not {self.seed}"
            )
        if not 0 < self.top_p <= 1:
            raise ConfigError(f"decoding.top_p must be more than 0 and at most 1, not {self.top_p}")
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

    def limit(self, source_length: int, prefix_length: int = 0) -> int:
        """Most sub-words of a translation.

        Args:
            source_length: Number of sub-words of the source, start and end included.
            prefix_length: Number of those that the translation begins with.
        """
        return min(self.max_length, int(self.max_length_ratio * source_length) + 10 + prefix_length)


@dataclasses.dataclass(frozen=True)
class Config:
    """The whole of a run.

    Attributes:
        data: Where the sentence pairs come from.
        tokenizer: How text is cut into sub-words.
        model: The sizes and options of the Transformer.
        training: How the model is trained.
        decoding: How translations are searched for.
    """

    data: DataConfig = DataConfig()
    tokenizer: TokenizerConfig = TokenizerConfig()
    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()
    decoding: DecodingConfig = DecodingConfig()

    def __post_init__(self) -> None:
        """Checks what a type alone does not say.

        Raises:
            ConfigError: One line that names the key.
        """
        for key in AT_LEAST_ONE:
            value = _get(self, key)
            if value is not None and not value >= 1:
                raise ConfigError(f"{key} must be at least 1, not {value}")
        for key, end in SHARES.items():
            value = _get(self, key)
            if not 0 <= value < end:
                raise ConfigError(f"{key} must be at least 0 and less than {end}, not {value}")
        for key in ABOVE_ZERO:
            value = _get(self, key)
            if value is not None and not value > 0:  # not nan either
                raise ConfigError(f"{key} must be more than 0, not {value}")
        model, tokenizer, training = self.model, self.tokenizer, self.training
        if not 0 <= training.seed < 2**32:
            raise ConfigError(
                f"training.seed must be at least 0 and less than 2**32, not {training.seed}"
            )
        if training.cooldown_steps < 0:
            raise ConfigError(
                f"training.cooldown_steps must be at least 0, not {training.cooldown_steps}"
            )
        if training.precision == "mixed_float16" and training.accumulation_steps > 1:
            raise ConfigError(
                "training.accumulation_steps needs float32 or mixed_bfloat16: with mixed_float16 "
                "some batches are left out, and the groups of batches would shift"
            )
        self._check_alignment()
        if training.best_metric != "perplexity" and training.validation_translations < 1:
            raise ConfigError(
                f"training.best_metric={training.best_metric} needs training."
                "validation_translations of at least 1"
            )
        if model.d_model % model.num_heads:
            raise ConfigError(
                "model.d_model must be a multiple of model.num_heads, "
                f"not {model.d_model} for {model.num_heads} heads"
            )
        if tokenizer.kind == "bpemb" and tokenizer.shared:
            raise ConfigError("tokenizer.shared needs tokenizer.kind=trained")
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
        """Whether the model has the layer and the heads that align."""
        layer, heads = self.decoding.alignment_layer, self.decoding.alignment_heads
        if layer is not None and not 1 <= layer <= self.model.num_layers:
            raise ConfigError(
                f"decoding.alignment_layer must be from 1 to {self.model.num_layers}, not {layer}"
            )
        for head in heads:
            if not 1 <= head <= self.model.num_heads:
                raise ConfigError(
                    f"decoding.alignment_heads must be from 1 to {self.model.num_heads}, not {head}"
                )

    def _check_files(self) -> None:
        lists = {
            key: getattr(self.data, key) for key in ("files", "validation_files", "test_files")
        }
        for key, entries in lists.items():
            if any(len(entry) not in (1, 2) for entry in entries):
                raise ConfigError(
                    f"data.{key} is a list of [FILE] and [SOURCE, TARGET], such as "
                    '[["a.tsv"], ["b.en.gz", "b.de.gz"]]'
                )
            if entries and self.data.corpus != "files":
                raise ConfigError(f"data.{key} needs data.corpus=files, not {self.data.corpus}")
        if self.data.corpus == "files" and not self.data.files:
            raise ConfigError(
                'data.corpus=files needs data.files, such as [["a.tsv"], ["b.en.gz", "b.de.gz"]]'
            )


BPEMB_DIMENSIONS = (25, 50, 100, 200, 300)
AT_LEAST_ONE = (
    "data.validation_size",
    "data.test_size",
    "data.max_length_ratio",
    "data.max_pairs",
    "data.max_length",
    "tokenizer.vocab_size",
    "model.num_layers",
    "model.d_model",
    "model.num_heads",
    "model.d_ff",
    "model.max_length",
    "training.max_epochs",
    "training.max_steps",
    "training.tokens_per_batch",
    "training.max_shapes",
    "training.accumulation_steps",
    "training.devices",
    "training.validate_every",
    "training.patience",
    "training.keep_states",
    "training.warmup_steps",
)
SHARES = {
    "data.variants": 100,
    "data.max_malformed": 1,
    "tokenizer.dropout": 1,
    "model.dropout_rate": 1,
    "training.label_smoothing": 1,
    "training.average_decay": 1,
}
ABOVE_ZERO = (
    "training.max_minutes",
    "training.learning_rate_scale",
    "training.clip_norm",
    "training.save_minutes",
)
RESUMABLE = (
    "data.directory",
    "data.files",
    "data.validation_files",
    "data.test_files",
    "data.cache_directory",
    "training.max_epochs",
    "training.max_steps",
    "training.max_minutes",
    "training.cooldown_steps",
    "training.validate_every",
    "training.validation_translations",
    "training.patience",
    "training.save_minutes",
    "training.keep_states",
    "training.tensorboard",
    "training.samples",
)


def load_config(path: Path | None = None, overrides: Sequence[str] = ()) -> Config:
    """Reads a configuration: the defaults, then a YAML file, then overrides.

    Args:
        path: A YAML file that lists what differs from the defaults.
        overrides: Strings `section.key=value`, the value written as in YAML.

    Returns:
        The checked configuration.

    Raises:
        ConfigError: A missing or malformed file, an unknown key or a value of the wrong type, in
            one line that names the key and, for a misspelt one, the nearest valid key.
    """
    values: dict[str, Any] = {}
    if path is not None:
        values.update(_flatten(_read_yaml(Path(path))))
        _check_texts(values, Path(path))
    for override in overrides:
        key, separator, value = override.partition("=")
        if not separator:
            raise ConfigError(f"An override is written section.key=value, not {override!r}")
        values[key.strip()] = value
    for key in values:
        _check_key(key)
    # jsonargparse reads every value as YAML.
    arguments = [
        f"--{key}={value if isinstance(value, str) else _flow(value)}"
        for key, value in values.items()
    ]
    parser = _parser()
    try:
        return Config(**vars(parser.instantiate(parser.parse_args(arguments))))
    except ArgumentError as error:
        message = _one_line(str(error))
        wrong = re.fullmatch(r'Parser key "(.+?)": Expected a (.+)\. Got value: (.*)', message)
        if wrong:
            key, expected, received = wrong.groups()
            expected = re.sub(r"<class '(.+?)'>|typing\.", r"\1", expected)
            message = f"{key} must be {expected}, not {received!r}"
        several = re.fullmatch(
            r'Parser key "(.+?)": .*? Subtypes: \[(.*?)\] .*Given value: "?(.*?)"?', message
        )
        if several:
            key, expected, received = several.groups()
            kinds = re.findall(r"<class '(?:.*\.)?(.+?)'>", expected)
            expected = " or ".join(kinds).replace("NoneType", "null")
            message = f"{key} must be {expected}, not {received!r}"
        raise ConfigError(message) from error


def _flow(value: Any) -> str:
    """A value in a line of YAML: JSON, but for characters that JSON escapes as two halves."""

    def whole(halves: re.Match[str]) -> str:
        character = json.loads(f'"{halves[0]}"')
        return f"\\U{ord(character):08x}"

    return re.sub(r"\\ud[89ab]..\\ud[c-f]..", whole, json.dumps(value, default=str))


def load_run_config(folder: Path, overrides: Sequence[str] = ()) -> Config:
    """Reads the configuration of a run that is to go on.

    Args:
        folder: The folder of the run.
        overrides: Strings `section.key=value`, of keys that do not change what has been learnt
            so far: how long to train, where data lies, what is reported.

    Raises:
        ConfigError: If there is no run, or another key is to be changed.
    """
    path = folder / "config.yaml"
    if not path.is_file():
        raise ConfigError(
            f"{folder} holds no run to go on with: it has no {path.name}. A run that was stopped "
            "before it wrote one has lost nothing; start it again"
        )
    if not path.read_text(encoding="utf-8").strip():
        raise ConfigError(f"{path} is empty: nobody can tell how the run was configured")
    for override in overrides:
        key = override.partition("=")[0].strip()
        if key not in RESUMABLE and not key.startswith("decoding."):
            _check_key(key)
            raise ConfigError(f"{key} cannot change in a run that goes on, only in a new one")
    before, now = load_config(path), load_config(path, overrides)
    if now.training.best_metric != "perplexity" and (
        now.decoding != before.decoding
        or now.training.validation_translations != before.training.validation_translations
    ):
        raise ConfigError(
            f"training.best_metric={now.training.best_metric} compares translations over the whole "
            "run: neither decoding nor training.validation_translations can change in it"
        )
    return now


def save_config(config: Config, path: Path) -> None:
    """Writes every key of a configuration as YAML, readable by `load_config`, whole or not at all.

    Raises:
        OSError: If it cannot be written.
    """
    text = yaml.safe_dump(_plain(dataclasses.asdict(config)), sort_keys=False, allow_unicode=True)
    write_whole(path, text.encode())


def help_text() -> str:
    """A line for each key: its name, its default and what it means."""
    lines = ["Keys, each with its default, for FILE and for section.key=value:"]
    for group in _parser()._action_groups[1:]:
        keys = [action for action in group._group_actions if "." in action.dest]
        if keys:
            lines.append(f"\n{group.title}")
        for action in keys:
            default = json.dumps(_plain(action.default), ensure_ascii=False)
            lines.append(f"  {action.dest}={default}")
            lines.append(f"      {' '.join(str(action.help).split())}")
    return "\n".join(lines)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(exit_on_error=False, add_help=False)
    parser.add_class_arguments(Config, as_positional=False)
    return parser


def _keys(section: type = Config, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The dotted names of all keys, each with its type."""
    for name, hint in get_type_hints(section).items():
        if dataclasses.is_dataclass(hint) and isinstance(hint, type):
            yield from _keys(hint, f"{prefix}{name}.")
        else:
            yield prefix + name, hint


def _check_texts(values: Mapping[str, Any], path: Path) -> None:
    """That what should be text is not what YAML makes of words such as no and null."""
    for key, hint in _keys():
        if hint is str:
            texts = [values.get(key, "")]
        elif hint == tuple[str, ...] and isinstance(values.get(key), list):
            texts = values[key]
        else:
            continue
        for text in texts:
            if not isinstance(text, str):
                raise ConfigError(
                    f"{key} must be text, but {path} says {text!r} to YAML: write it in quotes"
                )


def _check_key(key: str) -> None:
    known = [name for name, _ in _keys()]
    if key in known:
        return
    # A key without its section, or in the wrong one, is nearest to its namesake.
    last = key.rpartition(".")[2]
    near = [name for name in known if name.rpartition(".")[2] == last]
    near = near or difflib.get_close_matches(key, known, n=1, cutoff=0.0)
    raise ConfigError(f"Unknown configuration key {key!r}; did you mean {near[0]!r}?")


def _read_yaml(path: Path) -> Mapping[str, Any]:
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except OSError as error:
        raise ConfigError(f"Cannot read the configuration {path}: {error.strerror}") from error
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path} is not valid YAML: {_one_line(str(error))}") from error
    if content is None:
        return {}
    if not isinstance(content, Mapping):
        raise ConfigError(f"{path} must hold sections with keys, such as 'model:'")
    return content


class _Loader(yaml.SafeLoader):
    """Refuses a key that stands twice in a section, of which YAML would forget the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [(self.construct_object(key, deep=True), key) for key, _ in node.value]
        mapping = super().construct_mapping(node, deep)  # refuses keys that cannot be
        known = set()
        for name, key in keys:
            if name in known:
                raise yaml.constructor.ConstructorError(
                    problem=f"{name!r} stands there twice", problem_mark=key.start_mark
                )
            known.add(name)
        return mapping


def _flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}.")
        elif value is None and not prefix:
            continue  # a section that is named and left empty
        else:
            yield f"{prefix}{key}", value


def _plain(value: Any) -> Any:
    """What YAML and JSON can say: paths as text, tuples as lists."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _get(config: Config, key: str) -> Any:
    section, name = key.split(".")
    return getattr(getattr(config, section), name)


def _one_line(message: str) -> str:
    return " ".join(message.split())
