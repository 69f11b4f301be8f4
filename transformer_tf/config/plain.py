"""Reads simple configurations, as in a checkpoint, without jsonargparse: 2 ms instead of 200.

Most of the 200 ms is the import of jsonargparse, which reads all other configurations and reports
errors.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import yaml

from transformer_tf.config.schema import Config


def plain_config(values: Mapping[str, Any]) -> Config | None:
    """Makes a configuration from values that have the types of their keys.

    Args:
        values: The value of each key `section.key`, as YAML reads it, or the text of an override.

    Returns:
        The configuration; None if a key does not exist or a value has another type.

    Raises:
        ConfigError: If a value is out of its range.
    """
    sections: dict[str, Any] = {}
    try:
        for key, value in values.items():
            section, name = key.split(".")
            sections.setdefault(section, {})[name] = value
        for section, kind in get_type_hints(Config).items():
            sections[section] = _section(kind, sections.get(section, {}))
        return Config(**sections)
    except (TypeError, ValueError, KeyError, yaml.YAMLError):
        return None


def _section(section: Any, values: Mapping[str, Any]) -> Any:
    hints = get_type_hints(section) if values else {}
    return section(**{name: _typed(value, hints[name]) for name, value in values.items()})


def _typed(value: Any, hint: Any) -> Any:
    """Converts a value to the type of its key; raises a TypeError if it has another type."""
    kind, options = get_origin(hint), get_args(hint)
    if kind in (Union, types.UnionType):
        for option in options:
            with contextlib.suppress(TypeError):
                return _typed(None if value == "null" else value, option)
        raise TypeError(value)
    if isinstance(value, str):
        if hint is str or (kind is Literal and value in options):
            return value
        if hint is Path:
            return Path(value)
        value = yaml.safe_load(value)  # an override is text
    if kind is tuple and isinstance(value, list):
        return tuple(_typed(item, options[0]) for item in value)
    if dataclasses.is_dataclass(hint) and isinstance(value, Mapping):  # an entry of data.mix
        return _section(hint, value)
    if hint is float and type(value) in (int, float) and math.isfinite(value):
        return float(value)
    if hint in (bool, int, type(None)) and type(value) is hint:
        return value
    raise TypeError(value)
