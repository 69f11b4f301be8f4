"""A configuration from a YAML file and `section.key=value` overrides, and back to a file."""

from __future__ import annotations

import dataclasses
import difflib
import functools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_type_hints

import yaml

from transformer_tf.config.schema import Config
from transformer_tf.config.values import YamlLoader, convert_value
from transformer_tf.errors import ConfigError, one_line
from transformer_tf.utils.files import atomic_write_bytes

# The keys that may change in a resumed run, besides those of `decoding`. They have no effect on
# what the model has learned so far.
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
    "training.patience",
    "training.tensorboard",
    "training.samples",
)
# Keys of earlier versions, still found in their saved configurations.
REMOVED = ("data.max_malformed", "decoding.coverage_penalty", "training.keep_states")


def load_config(path: Path | None = None, overrides: Sequence[str] = ()) -> Config:
    """Reads a configuration: the defaults, then a YAML file, then overrides.

    Args:
        path: A YAML file that lists what differs from the defaults.
        overrides: Strings `section.key=value`, the value written as in YAML; for a text or a path
            it is taken as it is.

    Returns:
        The checked configuration.

    Raises:
        ConfigError: For a missing or malformed file, an unknown key or an invalid value. The
            message is one line that names the key and suggests the nearest valid one.
    """
    values = {} if path is None else dict(_flatten(_read_yaml(Path(path))))
    values |= _parse(overrides)
    key = "training.start_from"
    start = convert_value(key, values.get(key), _key_types()[key])
    return _make_config(values) if start is None else _with_sizes_of(start.expanduser(), values)


def _with_sizes_of(checkpoint: Path, values: Mapping[str, Any]) -> Config:
    """Completes a configuration with the tokenizers, sizes and slots of a checkpoint.

    Raises:
        ConfigError: If the checkpoint has no configuration, or a given value differs from it.
    """
    if not (checkpoint / "config.yaml").is_file():
        raise ConfigError(f"training.start_from={checkpoint} is not a checkpoint")
    expected = load_saved_config(checkpoint / "config.yaml")
    theirs = {"data.slots": expected.data.slots}
    for section in ("model", "tokenizer"):
        theirs |= {
            f"{section}.{key}": value for key, value in vars(getattr(expected, section)).items()
        }
    config = _make_config({**theirs, **values})
    for section in ("model", "tokenizer"):
        for field in dataclasses.fields(getattr(config, section)):
            ours, kept = (
                getattr(getattr(each, section), field.name) for each in (config, expected)
            )
            if ours != kept and "dropout" not in field.name:
                raise ConfigError(
                    f"{section}.{field.name}={ours} differs from the {kept} of "
                    f"training.start_from={checkpoint}: leave it out"
                )
    return config


def load_saved_config(path: Path, overrides: Sequence[str] = ()) -> Config:
    """Reads the `config.yaml` of a run or a checkpoint, which an earlier version may have saved.

    Args:
        path: The file. Keys that no longer exist are ignored.
        overrides: Strings `section.key=value`.

    Raises:
        ConfigError: As in `load_config`.
    """
    values = {key: value for key, value in _flatten(_read_yaml(path)) if key not in REMOVED}
    return _make_config(values | _parse(overrides))


def _parse(overrides: Sequence[str]) -> dict[str, str]:
    values = {}
    for override in overrides:
        key, separator, value = override.partition("=")
        if not separator:
            raise ConfigError(f"An override is written section.key=value, not {override!r}")
        values[key.strip()] = value
    return values


def _make_config(values: Mapping[str, Any]) -> Config:
    if values.get("data.files"):
        values = {"data.corpus": "files", **values}
    sections: dict[str, dict[str, Any]] = {}
    for key, value in values.items():
        _check_key(key)
        section, name = key.split(".")
        sections.setdefault(section, {})[name] = convert_value(key, value, _key_types()[key])
    return Config(
        **{
            section: kind(**sections.get(section, {}))
            for section, kind in get_type_hints(Config).items()
        }
    )


def load_run_config(folder: Path, overrides: Sequence[str] = ()) -> Config:
    """Reads the configuration of a run to resume.

    Args:
        folder: The folder of the run.
        overrides: Strings `section.key=value`. The keys are limited to `RESUMABLE` and those of
            `decoding`: how long to train, where the data is, what is reported.

    Raises:
        ConfigError: If the folder holds no run, or a key cannot change.
    """
    path = folder / "config.yaml"
    if path.is_file() and not path.read_bytes().strip():
        raise ConfigError(f"{path} is empty: the configuration of the run is lost")
    for override in overrides:
        key = override.partition("=")[0].strip()
        if key not in RESUMABLE and not key.startswith("decoding."):
            _check_key(key)
            raise ConfigError(f"{key} cannot change in a resumed run, only in a new one")
    before, now = load_saved_config(path), load_saved_config(path, overrides)
    if now.training.best_metric != "perplexity" and now.decoding != before.decoding:
        raise ConfigError(
            f"training.best_metric={now.training.best_metric} compares translations of the whole "
            "run, so decoding cannot change"
        )
    return now


def save_config(config: Config, path: Path) -> None:
    """Writes every key of a configuration as YAML, atomically.

    Raises:
        OSError: If it cannot be written.
    """
    text = yaml.safe_dump(
        plain_value(dataclasses.asdict(config)), sort_keys=False, allow_unicode=True
    )
    atomic_write_bytes(path, text.encode())


@functools.cache
def _key_types() -> dict[str, Any]:
    """Returns the type of each key."""
    return {
        f"{section}.{name}": hint
        for section, kind in get_type_hints(Config).items()
        for name, hint in get_type_hints(kind).items()
    }


def _check_key(key: str) -> None:
    known = _key_types()
    if key in known:
        return
    # For a key without its section, or in the wrong one, suggest the same name elsewhere.
    last = key.rpartition(".")[2]
    near = [name for name in known if name.rpartition(".")[2] == last]
    near = near or difflib.get_close_matches(key, known, n=1, cutoff=0.0)
    raise ConfigError(f"Unknown configuration key {key!r}; did you mean {near[0]!r}?")


def _read_yaml(path: Path) -> Mapping[str, Any]:
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), YamlLoader)
    except OSError as error:
        raise ConfigError(f"Cannot read the configuration {path}: {error.strerror}") from error
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path} is not valid YAML: {one_line(error)}") from error
    if content is None:
        return {}
    if not isinstance(content, Mapping):
        raise ConfigError(f"{path} must hold sections with keys, such as 'model:'")
    return content


def _flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}.")
        elif value is None and not prefix:
            continue  # an empty section
        else:
            yield f"{prefix}{key}", value


def plain_value(value: Any) -> Any:
    """Converts paths to text and tuples to lists, for YAML and JSON."""
    if isinstance(value, Mapping):
        return {key: plain_value(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain_value(item) for item in value]
    return str(value) if isinstance(value, Path) else value
