"""Options that every command has."""

import subprocess
import sys
from pathlib import Path

import pytest

import transformer_tf

SCRIPTS = sorted((Path(__file__).resolve().parents[2] / "scripts").glob("*.py"))


def run(*arguments):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_help_without_docstrings(script):
    """`python -OO` has no docstrings."""
    assert "--version" in run("-OO", script, "--help").stdout


def test_version():
    assert run(SCRIPTS[-1], "--version").stdout == f"{transformer_tf.__version__}\n"
