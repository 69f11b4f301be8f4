import pytest

from transformer_tf.config import help_text, known_keys
from transformer_tf.config.help import COMMON_KEYS
from transformer_tf.errors import ConfigError


def keys_of(text):
    """The keys of a help text, in their order."""
    names = (line.strip().partition("=") for line in text.splitlines())
    return [name for name, equals, _ in names if equals and name.split(".")[0].isalpha()]


def test_topics():
    every = keys_of(help_text("all"))
    assert [key for key in every if key.count(".") == 1 and "[]" not in key] == list(known_keys())
    assert keys_of(help_text()) == list(COMMON_KEYS)
    assert "--help all" in help_text()
    assert keys_of(help_text("model")) == [key for key in known_keys() if key.startswith("model.")]
    assert help_text("model.d_model").startswith("  model.d_model=128\n")
    assert "data.mix[].weight=1.0" in help_text("data.mix")
    for topic in ("mode", "model.d"):
        with pytest.raises(ConfigError, match=topic):
            help_text(topic)


def test_lines_are_as_wide_as_the_terminal():
    for width in (50, 130):
        lines = help_text("all", width).splitlines()
        assert width - 15 < max(map(len, lines)) <= width
