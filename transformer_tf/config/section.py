"""A section of the configuration: a dataclass that checks its values by their types."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from collections.abc import Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from transformer_tf.errors import ConfigError

WORDS = {
    NoneType: "null",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    Path: "a path",
}
BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


def key(default: Any, meaning: str) -> Any:
    """Returns a field of a section.

    Args:
        default: The default value.
        meaning: What the key means, for `--help`.
    """
    return dataclasses.field(default=default, metadata={"meaning": meaning})


class Section:
    """Base class of the sections: each value has the type and the range of its key.

    A list is accepted for a tuple, a whole number for a float, and text for a path.
    """

    name: ClassVar[str]

    def __init_subclass__(cls, name: str) -> None:
        cls.name = name

    def __post_init__(self) -> None:
        """Checks and converts each value.

        Raises:
            ConfigError: One line that names the key.
        """
        kind: Any = type(self)
        for name, hint in value_types(kind).items():
            value = _convert(f"{self.name}.{name}", getattr(self, name), hint)
            object.__setattr__(self, name, value)  # the section is frozen


@functools.cache
def value_types(section: Any) -> Mapping[str, Any]:
    """Returns the type of each key of a section."""
    hints = get_type_hints(section, include_extras=True)
    return {field.name: hints[field.name] for field in dataclasses.fields(section)}


def in_words(value: Any) -> str:
    """Returns a value as it is written in YAML."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _convert(name: str, value: Any, hint: Any) -> Any:
    try:
        value = msgspec.convert(value, hint, dec_hook=_to_path)
    except msgspec.ValidationError as error:
        message = f"{name} must be {describe(hint)}, not {in_words(value)}"
        if "`$" in str(error):  # the place of the wrong item in a list
            message += f": {error}"
        elif hint is str:
            message += ": quote it"
        raise ConfigError(message) from None
    if isinstance(value, float) and not math.isfinite(value):
        raise ConfigError(f"{name} must be a finite number, not {value}")
    return value


def _to_path(kind: type, value: Any) -> Path:
    """Converts the values of paths, the only types that msgspec does not know."""
    if isinstance(value, str | Path):
        return Path(value)
    raise TypeError("a path is text")


def describe(hint: Any) -> str:
    """Describes a type, such as "a whole number of at least 1 or null"."""
    kind, options = get_origin(hint), get_args(hint)
    if kind is Annotated:
        limits = hint.__metadata__[0]
        bounds = (
            f"{words} {getattr(limits, bound)}"
            for bound, words in BOUNDS.items()
            if getattr(limits, bound) is not None
        )
        return limits.description or f"{describe(options[0])}, {' and '.join(bounds)}"
    if kind in (Union, UnionType):
        return " or ".join(map(describe, options))
    if kind is Literal:
        return " or ".join(map(in_words, options))
    if kind is tuple:
        return f"a list, each item {describe(options[0])}"
    if dataclasses.is_dataclass(hint):
        return "{" + ", ".join(field.name for field in dataclasses.fields(hint)) + "}"
    return WORDS[hint]
