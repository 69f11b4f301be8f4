import dataclasses

import pytest

from transformer_tf.config import Config, help_text
from transformer_tf.config.help import COMMON_KEYS


def keys_of(text):
    """The keys of a help text, in their order."""
    lines = (line.strip() for line in text.splitlines() if line.startswith("  "))
    names = (line.partition("=") for line in lines if "=" in line.split()[0])
    return [name for name, _, _ in names if "." in name]


def test_all_keys_with_their_defaults():
    text = help_text(every=True)
    assert keys_of(text) == [
        f"{section.name}.{field.name}"
        for section in dataclasses.fields(Config)
        for field in dataclasses.fields(getattr(Config(), section.name))
    ]
    assert "model.d_model=128\n      Size of the vector of each position." in text
    assert "SUPPRESS" not in text


def test_the_twenty_keys_that_most_runs_change():
    text = help_text()
    assert len(COMMON_KEYS) == 20
    assert keys_of(text) == list(COMMON_KEYS)
    assert "--help all" in text


@pytest.mark.parametrize("width", [50, 80, 130])
def test_lines_are_as_wide_as_the_terminal(width):
    for every in (False, True):
        lines = help_text(every, width).splitlines()
        assert width - 15 < max(map(len, lines)) <= width
