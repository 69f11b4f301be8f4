"""Converts values of the configuration to the types of their keys."""

from __future__ import annotations

import contextlib
import dataclasses
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import yaml

from transformer_tf.errors import ConfigError

NAMES = {type(None): "null", str: "text", Path: "a path"}
LISTS = {
    "data.mix": "files with an optional weight, tag and swap, such as "
    "[{files: [a.tsv], weight: 0.5, tag: bt}]",
    **{
        f"data.{name}": '[FILE] and [SOURCE, TARGET], such as [["a.tsv"], ["b.en.gz", "b.de.gz"]]'
        for name in ("files", "validation_files", "test_files")
    },
}


def convert_value(key: str, value: Any, hint: Any) -> Any:
    """Converts the value of a key.

    Args:
        key: The key, such as `model.d_model`.
        value: What YAML reads in a file, or the text of an override.
        hint: The type of the key.

    Raises:
        ConfigError: If the value has another type.
    """
    try:
        return _convert(value, hint)
    except (TypeError, ValueError, KeyError, yaml.YAMLError):
        if key in LISTS:
            raise ConfigError(f"{key} is a list of {LISTS[key]}") from None
        given = repr(value) if isinstance(value, str) else value
        unquoted = "text" in _name(hint) and not isinstance(value, str)
        quote = "; YAML reads some words as other values: quote them" if unquoted else ""
        raise ConfigError(f"{key} must be {_name(hint)}, not {given}{quote}") from None


def _convert(value: Any, hint: Any) -> Any:
    kind, options = get_origin(hint), get_args(hint)
    if kind in (Union, types.UnionType):
        value = None if value == "null" else value
        for option in options:
            with contextlib.suppress(TypeError, ValueError):
                return _convert(value, option)
        raise TypeError
    if kind is Literal and value in options:
        return value
    if isinstance(value, str):
        if hint in (str, int, float, Path):
            return hint(value)
        value = yaml.safe_load(value)
    if kind is tuple and isinstance(value, list):
        return tuple(_convert(item, options[0]) for item in value)
    if dataclasses.is_dataclass(hint) and isinstance(value, Mapping):  # an entry of data.mix
        hints = get_type_hints(hint)
        return hint(**{name: _convert(item, hints[name]) for name, item in value.items()})  # type: ignore[operator]
    if type(value) is hint:
        return value
    if hint is float and type(value) is int:
        return float(value)
    raise TypeError


def _name(hint: Any) -> str:
    """Describes a type."""
    kind, options = get_origin(hint), get_args(hint)
    if kind in (Union, types.UnionType):
        return " or ".join(map(_name, options))
    if kind is Literal:
        return ("one of " if len(options) > 1 else "") + ", ".join(map(repr, options))
    if kind is tuple:
        return "a list of " + _name(options[0])
    return NAMES.get(hint, hint.__name__)
