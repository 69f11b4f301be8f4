import os
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "plot.py"


@pytest.fixture
def run(monkeypatch, capfd, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", [str(SCRIPT), *arguments])
        with pytest.raises(SystemExit) as exit_:
            runpy.run_path(str(SCRIPT), run_name="__main__")
        output = capfd.readouterr()
        return exit_.value.code, output.out, output.err

    return run


def test_the_default_file_name(run, tmp_path):
    assert run("positional") == (0, "positional.png\n", "")
    assert os.listdir(tmp_path) == ["positional.png"]
    assert (tmp_path / "positional.png").read_bytes().startswith(b"\x89PNG")


def test_other_sizes_and_formats(run, tmp_path):
    arguments = ["--steps", "10", "--d-model", "5", "--warmup-steps", "3", "7", "--scale", "2"]
    assert run("schedule", *arguments, "--output", "b.PDF")[0] == 0
    assert (tmp_path / "b.PDF").read_bytes().startswith(b"%PDF")
    status, _, err = run("positional", "--output", "no/c.png")
    assert (status, err.count("\n")) == (1, 1) and "no/c.png" in err


@pytest.mark.parametrize(
    "arguments",
    [[], ["curves"], ["positional", "--length", "0"], ["schedule", "--output", "a.txt"]],
)
def test_wrong_usage(run, tmp_path, arguments):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert "error: " in err
    assert os.listdir(tmp_path) == []


def test_the_positional_encoding_and_its_similarity(random):
    encoding = random.uniform(-1, 1, (7, 6))
    figure = runpy.run_path(str(SCRIPT))["plot_positional_encoding"](encoding)
    values, likeness = (axes.images[0].get_array() for axes in figure.axes[:2])
    np.testing.assert_allclose(values, encoding)
    np.testing.assert_allclose(np.diagonal(likeness), 1)
    expected = encoding[2] @ encoding[5] / np.linalg.norm(encoding[2]) / np.linalg.norm(encoding[5])
    assert likeness[2, 5] == pytest.approx(expected)


def test_the_schedule_begins_at_step_one():
    figure = runpy.run_path(str(SCRIPT))["plot_schedule"]({"a": np.array([0.1, 0.2, 0.3])})
    (curve,) = figure.axes[0].lines
    assert curve.get_label() == "a"
    np.testing.assert_allclose(curve.get_xdata(), [1, 2, 3])
    np.testing.assert_allclose(curve.get_ydata(), [0.1, 0.2, 0.3])
