"""The pages Configuration and Commands are those of the code."""

import re
from pathlib import Path

import pytest

from tools import reference
from transformer_tf.config import known_keys

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", reference.PAGES)
def test_the_pages_are_those_of_the_code(name):
    written = (reference.DOCS / name).read_text(encoding="utf-8")
    assert written == reference.PAGES[name](), "run python -m tools.reference"


def test_every_key_has_a_row_in_its_section():
    text = reference.configuration()
    sections = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    for key in known_keys():
        section, name = key.split(".")
        assert f"\n| `{name}` | `" in sections[section]
    assert len(re.findall(r"^\| `", text, re.MULTILINE)) == len(known_keys()) + 5 + 3
    assert "| `d_model` | `128` | a whole number, at least 1 |" in sections["model"]
    assert "| `max_minutes` | `null` | a number, more than 0 |" in sections["training"]


def test_every_installed_command_has_its_options():
    installed = re.findall(
        r"^transformer-tf-(\w+) =", (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE
    )
    text = reference.commands()
    assert sorted(re.findall(r"^## transformer-tf-(\w+)$", text, re.MULTILINE)) == sorted(installed)
    for row in (
        "| `--engine` `numpy`, `keras`, `ctranslate2` |",
        "| `--help [TOPIC]` |",
        "| `--resamples N` |",
        "| `--single-file` |",
        "| `FILE` or `section.key=value` |",
    ):
        assert row in text
    assert text.count("; required |") == 2
    assert "`--version` |" not in text
