"""A configuration from a YAML file and `section.key=value` overrides, and back to a file."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec
import yaml

from transformer_tf.catalog import CONFIG_FILE, find_checkpoint, find_pair
from transformer_tf.config.schema import AlignmentHeads, Config, DataConfig, MixConfig
from transformer_tf.config.section import value_types
from transformer_tf.errors import CheckpointError, ConfigError, one_line
from transformer_tf.utils.files import atomic_write_bytes, project_folder
from transformer_tf.utils.languages import language_name

# The keys that may change in a resumed run, besides those of `decoding`. They have no effect on
# what the model has learned so far.
RESUMABLE = (
    "data.files",
    "data.validation_files",
    "data.test_files",
    "training.max_epochs",
    "training.max_steps",
    "training.max_minutes",
    "training.cooldown_steps",
    "training.validate_every",
    "training.patience",
    "training.samples",
)
# The C versions take 1 ms instead of 15; some builds of PyYAML lack them.
SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
SafeDumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class YamlLoader(SafeLoader):
    """Rejects duplicate keys; PyYAML would silently keep the last one."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Returns the dictionary of a mapping."""
        keys = [(self.construct_object(key, deep=True), key) for key, _ in node.value]
        mapping = super().construct_mapping(node, deep)  # refuses unhashable keys
        known = set()
        for name, key in keys:
            if name in known:
                raise yaml.constructor.ConstructorError(
                    problem=f"{name!r} is a duplicate key", problem_mark=key.start_mark
                )
            known.add(name)
        return mapping


class YamlDumper(SafeDumper):
    """Quotes text that `YamlLoader` would read as a number."""


MAX_YAML, MAX_DEPTH = 100_000, 10  # characters; lists and sections inside each other


for _kind in (YamlLoader, YamlDumper):
    # As in YAML 1.2. PyYAML reads 1e-3 as text.
    _kind.add_implicit_resolver(
        "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+[eE][-+]?\d+$"), list("-+0123456789")
    )


def load_config(path: str | Path | None = None, overrides: Sequence[str] = ()) -> Config:
    """Reads a configuration: the defaults, then a YAML file, then overrides.

    Args:
        path: A YAML file that lists what differs from the defaults, or the name of a shipped one,
            such as `tatoeba`.
        overrides: Strings `section.key=value`, the value written as in YAML; for a text or a path
            it is taken as it is.

    Returns:
        The checked configuration.

    Raises:
        ConfigError: For a missing or malformed file, an unknown key or an invalid value. The
            message is one line that names the key and suggests the nearest valid one.
    """
    values = {} if path is None else _read_yaml(_find_config(Path(path)))
    values |= _parse(overrides)
    start = values.get("training.start_from")
    if start is None:
        return _make_config(values)
    try:
        checkpoint = find_checkpoint(str(start))
    except CheckpointError as error:
        raise ConfigError(f"training.start_from={start}: {error}") from error
    return _with_sizes_of(checkpoint, {**values, "training.start_from": str(checkpoint)})


def _find_config(path: Path) -> Path:
    """Returns the path of a configuration, given its path or the name of a shipped one."""
    shipped = {each.stem: each for each in (project_folder() / "configs").glob("*.yaml")}
    if not path.is_file() and str(path) in shipped:
        return shipped[str(path)]
    if not path.exists():
        names = ", ".join(sorted(shipped))
        raise ConfigError(f"There is no configuration {path}: give a file or one of {names}")
    return path


def _with_sizes_of(checkpoint: Path, values: Mapping[str, Any]) -> Config:
    """Completes a configuration with the tokenizers, sizes and languages of a checkpoint.

    Raises:
        ConfigError: If a given value differs from the checkpoint's.
    """
    saved = load_saved_config(checkpoint / CONFIG_FILE)
    sizes = {
        f"{section}.{name}": value
        for section in ("model", "tokenizer")
        for name, value in vars(getattr(saved, section)).items()
    }
    if saved.model.position == "learned":
        sizes["data.max_length"] = saved.data.max_length
    kept_data = ("placeholders", "source_language", "target_language")
    defaults = {f"data.{name}": getattr(saved.data, name) for name in kept_data}
    config = _make_config({**defaults, **sizes, **values})
    _check_direction(checkpoint, saved.data, config.data)
    for key, kept in sizes.items():
        section, name = key.split(".")
        given = getattr(getattr(config, section), name)
        if given != kept and "dropout" not in name:
            raise ConfigError(
                f"{key}={given} differs from the {kept} of training.start_from={checkpoint}: "
                "leave it out"
            )
    return config


def _check_direction(checkpoint: Path, saved: DataConfig, data: DataConfig) -> None:
    """Checks that a checkpoint translates between the languages of a run.

    Raises:
        ConfigError: If it does not. The message names the translator that does.
    """
    directions = [(each.source_language, each.target_language) for each in (saved, data)]
    if directions[0] == directions[1]:
        return
    own, wanted = (
        f"{language_name(source)} to {language_name(target)}" for source, target in directions
    )
    try:
        advice = f"take training.start_from={find_pair(*directions[1]).name}"
    except CheckpointError:
        advice = "there is no translator for these languages to start from"
    raise ConfigError(f"training.start_from={checkpoint} translates {own}, not {wanted}: {advice}")


def load_saved_config(path: Path, overrides: Sequence[str] = ()) -> Config:
    """Reads the `config.yaml` of a run or a checkpoint, whose sizes are all in it.

    Args:
        path: The file.
        overrides: Strings `section.key=value`.

    Raises:
        ConfigError: As in `load_config`.
    """
    return _make_config(_read_yaml(path) | _parse(overrides))


def _parse(overrides: Sequence[str]) -> dict[str, Any]:
    """Returns the values of strings `section.key=value`."""
    values = {}
    for override in overrides:
        key, separator, text = override.partition("=")
        key = key.strip()
        if not separator:
            raise ConfigError(f"An override is written section.key=value, not {override!r}")
        values[key] = _parse_value(key, text)
    return values


def _parse_value(key: str, text: str) -> Any:
    check_key(key)
    hint = known_keys()[key]
    if {str, Path} & {hint, *get_args(hint)} and text not in ("", "null"):
        return text
    try:
        return _load_yaml(text)
    except ValueError as error:
        raise ConfigError(f"{key}={text} is not valid YAML: {one_line(error)}") from error


def _make_config(values: Mapping[str, Any]) -> Config:
    if values.get("data.files"):
        values = {"data.corpus": "files", **values}
    _check_names("data.mix", values.get("data.mix"), MixConfig)
    _check_names("decoding.alignment", [values.get("decoding.alignment")], AlignmentHeads)
    sections: dict[str, dict[str, Any]] = {section: {} for section in get_type_hints(Config)}
    for key, value in values.items():
        check_key(key)
        section, name = key.split(".")
        sections[section][name] = value
    return Config(
        **{section: kind(**sections[section]) for section, kind in get_type_hints(Config).items()}
    )


def _check_names(key: str, entries: Any, kind: Any) -> None:
    """Refuses unknown names in the entries of a key, which msgspec would ignore."""
    for entry in entries if isinstance(entries, list) else ():
        for name in entry if isinstance(entry, Mapping) else ():
            if name not in value_types(kind):
                raise ConfigError(f"Unknown key {name!r} in {key}: {list(value_types(kind))}")


def load_run_config(folder: Path, overrides: Sequence[str] = ()) -> Config:
    """Reads the configuration of a run to resume.

    Args:
        folder: The folder of the run.
        overrides: Strings `section.key=value`. The keys are limited to `RESUMABLE` and those of
            `decoding`: how long to train, where the data is, what is reported.

    Raises:
        ConfigError: If the folder holds no run, or a key cannot change.
    """
    path = folder / CONFIG_FILE
    if path.is_file() and not path.read_bytes().strip():
        raise ConfigError(f"{path} is empty: the configuration of the run is lost")
    for override in overrides:
        key = override.partition("=")[0].strip()
        if key not in RESUMABLE and not key.startswith("decoding."):
            check_key(key)
            raise ConfigError(f"{key} cannot change in a resumed run, only in a new one")
    return load_saved_config(path, overrides)


def save_config(config: Config, path: Path) -> None:
    """Writes every key of a configuration as YAML, atomically.

    Raises:
        OSError: If it cannot be written.
    """
    values = msgspec.to_builtins(config, enc_hook=str)  # a path becomes text
    text = yaml.dump(values, Dumper=YamlDumper, sort_keys=False, allow_unicode=True)
    atomic_write_bytes(path, text.encode())


@functools.cache
def known_keys() -> dict[str, Any]:
    """Returns the type of each key, such as `model.d_model`."""
    return {
        f"{section}.{name}": hint
        for section, kind in get_type_hints(Config).items()
        for name, hint in value_types(kind).items()
    }


def check_key(key: str) -> None:
    """Checks that there is a key.

    Raises:
        ConfigError: If there is none. The message suggests the nearest one.
    """
    known = known_keys()
    if key in known:
        return
    # For a key without its section, or in the wrong one, suggest the same name elsewhere.
    last = key.rpartition(".")[2]
    near = [name for name in known if name.rpartition(".")[2] == last]
    near = near or difflib.get_close_matches(key, known, n=1, cutoff=0.0)
    raise ConfigError(f"Unknown configuration key {key!r}; did you mean {near[0]!r}?")


def _load_yaml(text: str) -> Any:
    """Parses YAML of bounded size and depth, without aliases: libyaml can crash the process.

    Raises:
        ValueError: If it is invalid.
    """
    if len(text) > MAX_YAML:
        raise ValueError(f"it has more than {MAX_YAML} characters")
    depth = 0
    try:
        for event in yaml.parse(text, YamlLoader):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH or isinstance(event, yaml.AliasEvent):
                raise ValueError("it has an alias, or is nested too deeply")
        return yaml.load(text, YamlLoader)
    except (yaml.YAMLError, TypeError) as error:  # the second for an unhashable key
        raise ValueError(one_line(error)) from error


def _read_yaml(path: Path) -> dict[str, Any]:
    """Returns the value of each `section.key` of a file."""
    try:
        with path.open("rb") as file:
            content = _load_yaml(file.read(MAX_YAML + 1).decode("utf-8"))
    except OSError as error:
        raise ConfigError(f"Cannot read the configuration {path}: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"{path} is not valid YAML: {one_line(error)}") from error
    if not isinstance(content, Mapping | None):
        raise ConfigError(f"{path} must hold sections with keys, such as 'model:'")
    return dict(_flatten(content or {}))


def _flatten(content: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for section, values in content.items():
        if isinstance(values, Mapping):
            yield from ((f"{section}.{name}", value) for name, value in values.items())
        elif values is not None:  # None: an empty section
            yield str(section), values
