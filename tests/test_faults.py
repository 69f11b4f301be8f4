"""A full disk or a kill at each write, fsync and rename leaves the file before, or the new one."""

import contextlib
import io
import itertools
import json
import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import keras
import numpy as np
import pytest

from tests.conftest import make_model
from transformer_tf.checkpoint import (
    load_checkpoint,
    load_numpy_model,
    open_checkpoint,
    save_weights,
)
from transformer_tf.commands import translate
from transformer_tf.config import load_saved_config, save_config
from transformer_tf.errors import DataError
from transformer_tf.evaluation.report import Report, write_report
from transformer_tf.export.checkpoint_export import export_checkpoint
from transformer_tf.export.web.site import export_web
from transformer_tf.hashes import recorded_write
from transformer_tf.runs.reports import write_metrics
from transformer_tf.runs.state import load_state, save_state
from transformer_tf.training.progress import Progress
from transformer_tf.translation import Translation
from transformer_tf.utils.lines import read_lines, write_lines

FAULTS = [OSError(28, "No space left on device"), KeyboardInterrupt()]
WRITES = [
    *((os, name) for name in ("fsync", "replace")),
    *((Path, name) for name in ("write_bytes", "write_text", "mkdir", "rename")),
    *((shutil, "copyfile"), (keras.Model, "save_weights")),
]


def runs_with_faults(monkeypatch, fault, action):
    """Runs an action with a fault at its first write, at its second, … and at last with none.

    Yields:
        Whether the action ended, after each run.
    """
    for broken in itertools.count():
        calls = 0

        def counted(function, broken=broken):
            def call(*arguments, **options):
                nonlocal calls
                calls += 1
                if calls == broken + 1:
                    raise fault
                return function(*arguments, **options)

            return call

        with monkeypatch.context() as patch:
            for place, name in WRITES:
                patch.setattr(place, name, counted(getattr(place, name)))
            try:
                action()
            except (Exception, KeyboardInterrupt) as error:
                assert calls > broken, error
        yield calls <= broken
        if calls <= broken:
            assert broken >= 2
            return


class Saver:
    """Saves the value 0 or 1 in a file of a checkpoint, and reads it again."""

    def __init__(self, folder):
        self.folder = folder
        config, _, source, target = open_checkpoint(folder)
        self.config = config
        sizes = {name: getattr(config.model, name) for name in ("num_layers", "d_model", "d_ff")}
        self.model = make_model(
            **sizes,
            num_heads=config.model.num_heads,
            source_vocab_size=source.vocab_size,
            target_vocab_size=target.vocab_size,
        )

    def save_weights(self, value):
        self.model.set_weights([np.full_like(w, value) for w in self.model.get_weights()])
        save_weights(self.model, self.folder / "last.weights.h5")

    def load_weights(self):
        return load_numpy_model(*open_checkpoint(self.folder)).source_embedding[0][0, 0]

    def save_state(self, value):
        save_state(self.folder, Progress(step=value, fingerprint="x"), [np.full(5, value)])

    def load_state(self):
        progress, arrays = load_state(self.folder)
        assert (arrays[0] == progress.step).all()
        return progress.step

    def save_config(self, value):
        text = f"max_steps: {value + 1}"
        with recorded_write(self.folder / "config.yaml") as partial:
            save_config(self.config, partial)
            partial.write_text(partial.read_text().replace("max_steps: null", text))

    def load_config(self):
        open_checkpoint(self.folder)  # checks the hash
        return load_saved_config(self.folder / "config.yaml").training.max_steps - 1

    def save_lines(self, value):
        write_lines(self.folder / "lines.txt", [str(value)] * 3)

    def load_lines(self):
        lines = read_lines(self.folder / "lines.txt")
        assert len(lines) == 3
        return int(lines[0])

    def save_metrics(self, value):
        write_metrics([{"step": value}] * 3, self.folder / "metrics.csv")

    def load_metrics(self):
        name, *steps = read_lines(self.folder / "metrics.csv")
        assert (name, len(set(steps)), len(steps)) == ("step", 1, 3)
        return int(steps[0])

    def save_report(self, value):
        write_report(Report(value, 1.5, 7, {}, [], []), self.folder / "report.json")

    def load_report(self):
        return json.loads((self.folder / "report.json").read_text())["sentences"]


KINDS = ["weights", "state", "config", "lines", "metrics", "report"]


@pytest.mark.parametrize("fault", FAULTS, ids=["full disk", "killed"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_at_each_write(checkpoint, tmp_path, monkeypatch, kind, fault):
    saver = Saver(shutil.copytree(checkpoint, tmp_path / "run"))
    save, load = getattr(saver, f"save_{kind}"), getattr(saver, f"load_{kind}")
    save(0)
    names = sorted(path.name for path in saver.folder.iterdir())
    for ended in runs_with_faults(monkeypatch, fault, lambda: save(1)):
        assert load() in (0, 1)
        assert sorted(path.name for path in saver.folder.iterdir()) == names
        if not ended:
            save(0)
            assert load() == 0
    assert load() == 1


class Exporter:
    """Exports a checkpoint; what writes graphs and other formats is a stub of two writes."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.patch = folder, monkeypatch
        loaded = load_checkpoint(folder)
        for name in ("checkpoint_export", "onnx", "ctranslate2", "saved_model"):
            with contextlib.suppress(ImportError):  # the format's package is not installed
                module = f"transformer_tf.export.{name}.load_checkpoint"
                monkeypatch.setattr(module, lambda *_: loaded)

    @staticmethod
    def stub(folder, *_, **__):
        Path(folder).mkdir(exist_ok=True)
        for name in ("graph", "weights"):
            (Path(folder) / name).write_bytes(b"content")

    def checkpoint(self, output):
        export_checkpoint(self.folder, output, quantized=True)

    def web(self, output):
        export_web([self.folder], output)

    def web_file(self, output):
        export_web([self.folder], output, single_file=True)

    def onnx(self, output):
        module = pytest.importorskip("transformer_tf.export.onnx", exc_type=ImportError)

        def export(_, path, **__):
            path.write_bytes(b"graph")

        self.patch.setattr(module._Graph, "export", export)
        module.export_onnx(self.folder, output)

    def ctranslate2(self, output):
        pytest.importorskip("ctranslate2")
        module = pytest.importorskip("transformer_tf.export.ctranslate2", exc_type=ImportError)
        spec = SimpleNamespace(validate=lambda: None, optimize=lambda **_: None, save=self.stub)
        self.patch.setattr(module, "transformer_specification", lambda *_: spec)
        module.export_ctranslate2(self.folder, output)

    def saved_model(self, output):
        module = pytest.importorskip("transformer_tf.export.saved_model", exc_type=ImportError)
        fake = SimpleNamespace(translate=None, attend=None)
        self.patch.setattr(module, "TranslationModule", lambda *_: fake)
        self.patch.setattr(module.tf.saved_model, "save", lambda _, folder, **__: self.stub(folder))
        module.export_saved_model(self.folder, output)


FORMATS = ["checkpoint", "web", "web_file", "onnx", "ctranslate2", "saved_model"]


def contents(folder):
    """Returns the files of a folder with their sizes, and its empty folders."""
    return {
        str(path.relative_to(folder)): path.is_file() and path.stat().st_size
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("fault", FAULTS, ids=["full disk", "killed"])
@pytest.mark.parametrize("place", ["new", "empty"])
@pytest.mark.parametrize("kind", FORMATS)
def test_a_fault_at_each_write_of_an_export(checkpoint, tmp_path, monkeypatch, kind, place, fault):
    export = getattr(Exporter(checkpoint, monkeypatch), kind)
    (tmp_path / "whole").mkdir()
    (tmp_path / "broken").mkdir()
    export(tmp_path / "whole" / "out")
    output = tmp_path / "broken" / "out"
    if place == "empty" and kind != "web_file":
        output.mkdir()
    before = contents(tmp_path / "broken")
    for ended in runs_with_faults(monkeypatch, fault, lambda: export(output)):
        expected = contents(tmp_path / "whole") if ended else before
        assert contents(tmp_path / "broken") == expected


class Disk(io.FileIO):
    """A file on a disk that is full, or whose process is killed, from its n-th write on."""

    left, fault = 0, FAULTS[0]

    def write(self, content):
        Disk.left -= 1
        if Disk.left > 0:
            return super().write(content)
        if Disk.left == 0:
            super().write(content[: len(content) // 2])
        if Disk.fault is FAULTS[0] or Disk.left == 0:
            raise Disk.fault
        return len(content)  # of a process that no longer exists

    def close(self):
        with contextlib.suppress(OSError, KeyboardInterrupt):
            super().close()


@pytest.mark.parametrize("fault", FAULTS, ids=["full disk", "killed"])
def test_a_fault_at_each_write_of_output(tmp_path, monkeypatch, fault):
    """What is there are the first lines; `--resume` adds the others."""
    source, output = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("".join(f"{n}\n" for n in range(20)))
    whole = "".join(f"Zeile {n}\n" for n in range(20))

    def search(texts, **_):
        return [[Translation(f"Zeile {text}", [], 0.0)] for text in texts]

    def open_on_disk(path, mode="r", **options):
        if path != output or mode not in ("w", "a"):
            return open(path, mode, **options)
        return io.TextIOWrapper(io.BufferedWriter(Disk(path, mode)), **options)

    monkeypatch.setattr(translate, "load", lambda _: SimpleNamespace(search=search))
    monkeypatch.setattr(translate, "note_language", lambda *_: True)
    monkeypatch.setattr(translate, "MAX_BLOCK", 3)
    monkeypatch.setattr(Path, "open", open_on_disk)
    monkeypatch.setattr(Disk, "fault", fault)
    command = ["translate.py", "--input", str(source), "--output", str(output)]
    for broken in itertools.count(1):
        monkeypatch.setattr(sys, "argv", command)
        monkeypatch.setattr(Disk, "left", broken)
        try:
            translate.main()
        except (DataError, KeyboardInterrupt):
            assert Disk.left <= 0
        found = output.read_text()
        assert whole.startswith(found)
        assert found.count("\n") >= min(3 * (broken - 1), 20)
        if Disk.left > 0:
            break
        monkeypatch.setattr(sys, "argv", [*command, "--resume"])
        monkeypatch.setattr(Disk, "left", 100)
        translate.main()
        assert output.read_text() == whole
    assert (broken, found) == (8, whole)
