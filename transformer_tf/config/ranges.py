"""Number types of configuration keys, and the check of their ranges."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints

from transformer_tf.errors import ConfigError


class Range(NamedTuple):
    """A condition on the value of a key, in words and as a function."""

    words: str
    holds: Callable[[float], bool]


_at_least_0 = Range("at least 0", lambda value: value >= 0)
_at_least_1 = Range("at least 1", lambda value: value >= 1)
NonNegativeInt = Annotated[int, _at_least_0]
PositiveInt = Annotated[int, _at_least_1]
NonNegativeFloat = Annotated[float, _at_least_0]
PositiveFloat = Annotated[float, Range("more than 0", lambda value: value > 0)]
Ratio = Annotated[float, _at_least_1]
Share = Annotated[float, Range("at least 0 and less than 1", lambda value: 0 <= value < 1)]
PositiveShare = Annotated[float, Range("more than 0 and at most 1", lambda value: 0 < value <= 1)]
_STEPS = "a number of steps, at least 1, or a share of the run, at most 0.5"
StepsOrShare = Annotated[int | float, Range(_STEPS, lambda value: _is_steps_or_share(value))]
StepsOrShareOrNone = Annotated[
    int | float, Range(f"0, {_STEPS}", lambda value: value == 0 or _is_steps_or_share(value))
]
Seed = Annotated[int, Range("at least 0 and less than 2**32", lambda value: 0 <= value < 2**32)]


def check_ranges(section: Any, name: str) -> None:
    """Checks that the numbers of a section are finite and in the ranges of their types.

    Args:
        section: A dataclass of the configuration.
        name: Its name, such as `data`.

    Raises:
        ConfigError: One line that names the key.
    """
    for key, ranges in _ranges(section.__class__).items():
        value = getattr(section, key)
        if not isinstance(value, int | float):  # null, or a word such as `auto`
            continue
        if isinstance(value, float) and not math.isfinite(value):
            raise ConfigError(f"{name}.{key} must be a finite number, not {value}")
        for condition in ranges:
            if not condition.holds(value):
                raise ConfigError(f"{name}.{key} must be {condition.words}, not {value}")


@functools.cache
def _ranges(section: type) -> dict[str, list[Range]]:
    """Returns the ranges of each key of a section, `X | None` included."""
    hints = get_type_hints(section, include_extras=True)
    return {
        key: [
            condition
            for part in (hint, *get_args(hint))
            for condition in getattr(part, "__metadata__", ())
        ]
        for key, hint in hints.items()
    }


def _is_steps_or_share(value: float) -> bool:
    return value == int(value) if value >= 1 else 0 < value <= 0.5
