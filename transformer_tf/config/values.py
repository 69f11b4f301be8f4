"""Converts values of the configuration to the types of their keys."""

from __future__ import annotations

import contextlib
import dataclasses
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import yaml

from transformer_tf.errors import ConfigError, one_line

NAMES = {
    type(None): "null",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    Path: "a path",
}
FILES = '[FILE] and [SOURCE, TARGET], such as [["a.tsv"], ["b.en.gz", "b.de.gz"]]'
LISTS = {
    "data.files": FILES,
    "data.validation_files": FILES,
    "data.test_files": FILES,
    "data.mix": "files with an optional weight, tag and swap, such as "
    "[{files: [a.tsv], weight: 0.5, tag: bt}]",
}
# The loader in C takes 1 ms instead of 15; some builds of PyYAML lack it.
SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


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


def convert_value(key: str, value: Any, hint: Any) -> Any:
    """Converts the value of a key.

    Args:
        key: The key, such as `model.d_model`.
        value: What YAML reads in a file, or the text of an override. Such a text is read as YAML,
            except where the key takes text or a path.
        hint: The type of the key.

    Raises:
        ConfigError: If the value has another type.
    """
    try:
        return _convert(key, value, hint)
    except ConfigError as error:
        if key not in LISTS:
            raise
        raise ConfigError(f"{error}; {key} is a list of {LISTS[key]}") from None


def _convert(key: str, value: Any, hint: Any) -> Any:
    kind, options = get_origin(hint), get_args(hint)
    if kind in (Union, types.UnionType):
        return _convert_to_one(key, value, hint)
    if kind is Literal and value in options:
        return value
    if hint in (str, Path) and isinstance(value, str):
        return hint(value)
    if isinstance(value, str) and kind is not Literal:
        value = _read(key, value)
    if kind is tuple and isinstance(value, list):
        return tuple(
            _convert(f"{key}[{index}]", item, options[0]) for index, item in enumerate(value)
        )
    if dataclasses.is_dataclass(hint) and isinstance(value, Mapping):
        return _convert_entry(key, value, hint)
    if type(value) is hint:
        return value
    if hint is float and type(value) in (int, str):  # YAML reads 1e-3 as text
        with contextlib.suppress(ValueError, OverflowError):
            return float(value)
    raise _error(key, value, hint)


def _convert_to_one(key: str, value: Any, hint: Any) -> Any:
    """Converts a value to the first type of a union that it has."""
    options = get_args(hint)
    if value in ("null", "") and type(None) in options:
        return None
    for option in options:
        with contextlib.suppress(ConfigError):
            return _convert(key, value, option)
    read = _read(key, value) if isinstance(value, str) else value
    if isinstance(read, list) and get_origin(options[0]) is tuple:
        return _convert(key, read, options[0])  # its error names the item
    raise _error(key, value, hint)


def _convert_entry(key: str, values: Mapping[str, Any], section: Any) -> Any:
    """Converts an entry of `data.mix`."""
    hints = get_type_hints(section)
    if unknown := [name for name in values if name not in hints]:
        raise ConfigError(f"{key}: there is no {unknown[0]!r}")
    if "files" not in values:
        raise ConfigError(f"{key}: files is missing")
    return section(
        **{name: _convert(f"{key}: {name}", value, hints[name]) for name, value in values.items()}
    )


def _read(key: str, text: str) -> Any:
    try:
        return yaml.load(text, YamlLoader)
    except yaml.YAMLError as error:
        reason = one_line(error)
        raise ConfigError(f"{key}={text} is not valid YAML: {reason}") from error


def _error(key: str, value: Any, hint: Any) -> ConfigError:
    given = repr(value) if isinstance(value, str) else "null" if value is None else value
    message = f"{key} must be {_name(hint)}, not {given}"
    if hint in (str, Path) and not isinstance(value, str | list | Mapping):
        message += ": quote it"
    return ConfigError(message)


def _name(hint: Any) -> str:
    """Describes a type."""
    kind, options = get_origin(hint), get_args(hint)
    if kind in (Union, types.UnionType):
        return " or ".join(
            _name(each) for each in options if not (each is int and float in options)
        )
    if kind is Literal:
        return ("one of " if len(options) > 1 else "") + ", ".join(map(repr, options))
    if kind is tuple or dataclasses.is_dataclass(hint):
        return "a list" if kind is tuple else "a mapping"
    return NAMES[hint]
