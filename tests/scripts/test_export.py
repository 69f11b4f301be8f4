"""The command line of the export; what it writes is tested in `tests/export`."""

import sys
from pathlib import Path

import pytest

from transformer_tf.commands import export


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Runs the command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["export.py", *map(str, arguments)])
        try:
            status = export.command()
        except SystemExit as exit_:
            status = exit_.code
        output = capsys.readouterr()
        return status, output.out, output.err

    return run


def test_a_checkpoint_is_exported_to_the_current_folder(run, checkpoint, tmp_path):
    status, out, err = run(
        *("--format", "checkpoint", "--checkpoint", checkpoint, "--output", "."),
        *("--quantization", "int8", "decoding.beam_size=3"),
    )
    assert (status, err) == (0, "")
    assert out == f"{checkpoint} → .\n"
    assert "beam_size: 3" in (tmp_path / "config.yaml").read_text()


@pytest.mark.parametrize(
    ("module", "function", "arguments", "expected"),
    [
        ("ctranslate2", "export_ctranslate2", ["--quantization", "int8"], ["int8"]),
        ("ctranslate2", "export_ctranslate2", [], [None]),
        ("saved_model", "export_saved_model", [], []),
        ("onnx", "export_onnx", [], []),
    ],
)
def test_each_format_has_its_exporter(
    run, checkpoint, monkeypatch, module, function, arguments, expected
):
    pytest.importorskip({"saved_model": "tensorflow_text", "onnx": "tf2onnx"}.get(module, module))
    calls = []
    name = f"transformer_tf.export.{module}.{function}"
    monkeypatch.setattr(name, lambda *given: calls.append(given))
    form = module.replace("_", "-")
    status, _, err = run(
        "--format", form, "--checkpoint", checkpoint, "--output", "new", *arguments
    )
    assert (status, err) == (0, "")
    assert calls == [(checkpoint, Path("new"), *expected)]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "--format"),
        (["--format", "checkpoint"], "--output"),
        (["--format", "tflite"], "--format"),
        (["--format", "saved-model", "--quantization", "int8"], "--quantization"),
        (["--format", "web", "--quantization", "int16"], "--quantization"),
        (["--format", "onnx", "decoding.beam_size=2"], "decoding.beam_size=2"),
        (["--format", "onnx", "--checkpoint", "a", "--checkpoint", "b"], "checkpoints"),
        (["--format", "onnx", "--single-file"], "--single-file"),
        (["--format", "onnx", "--url", "https://example.org/"], "--url"),
    ],
)
def test_wrong_usage(run, arguments, named):
    output = ["--output", "x"] if named != "--output" else []
    status, out, err = run(*arguments, *output)
    assert (status, out) == (2, "")
    assert named in err.splitlines()[-1]


def test_a_web_page_of_several_checkpoints(run, checkpoint, monkeypatch):
    calls = []
    monkeypatch.setattr(
        "transformer_tf.export.web.site.export_web", lambda *given: calls.append(given)
    )
    both = ["--checkpoint", checkpoint, "--checkpoint", checkpoint.parent]
    status, _, _ = run("--format", "web", *both, "--output", "page.html", "--single-file")
    assert status == 0
    assert calls == [([checkpoint, checkpoint], Path("page.html"), "int8", True, None)]
