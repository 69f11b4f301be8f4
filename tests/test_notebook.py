"""The notebook runs from its first cell to its last."""

import json
import os
import subprocess
import sys
from pathlib import Path

import keras
import pytest

NOTEBOOK = Path(__file__).resolve().parents[1] / "examples" / "tutorial.ipynb"

pytest.importorskip("nbclient", reason="nbclient is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")

# In a process of its own: what Jupyter's packages warn of is not ours.
RUN = """
import json, sys
import nbclient, nbformat

notebook = nbformat.read(sys.argv[1], 4)
nbclient.NotebookClient(notebook, timeout=500, kernel_name="python3").execute()
print(json.dumps(notebook))
"""


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="it ends with a SavedModel")
def test_the_tutorial_runs(tmp_path):
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN, NOTEBOOK],
        cwd=tmp_path,
        env={**os.environ, "TUTORIAL_EPOCHS": "1"},
        capture_output=True,
        text=True,
        timeout=550,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    cells = json.loads(result.stdout.splitlines()[-1])["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(pictures) == 4  # positions, learning rate, heads, words
    printed = "".join(output.get("text", "") for output in outputs)
    assert "BLEU" in printed
    assert list(tmp_path.iterdir()) == []


def test_no_path_and_no_error_is_kept_in_it():
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert "Traceback" not in text and "/tmp/" not in text and "stderr" not in text
