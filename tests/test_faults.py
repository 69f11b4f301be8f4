"""A full disk or a kill at each write, fsync and rename leaves the file before, or the new one."""

import itertools
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import make_model
from transformer_tf.checkpoint import load_numpy_model, open_checkpoint, save_weights
from transformer_tf.config import load_saved_config, save_config
from transformer_tf.hashes import recorded_write
from transformer_tf.runs.state import load_state, save_state
from transformer_tf.training.progress import Progress
from transformer_tf.utils.lines import read_lines, write_lines

FAULTS = [OSError(28, "No space left on device"), KeyboardInterrupt()]


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


@pytest.mark.parametrize("fault", FAULTS, ids=["full disk", "killed"])
@pytest.mark.parametrize("kind", ["weights", "state", "config", "lines"])
def test_a_fault_at_each_write(checkpoint, tmp_path, monkeypatch, kind, fault):
    saver = Saver(shutil.copytree(checkpoint, tmp_path / "run"))
    save, load = getattr(saver, f"save_{kind}"), getattr(saver, f"load_{kind}")
    save(0)
    names = sorted(path.name for path in saver.folder.iterdir())
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
            for place, name in [(os, "fsync"), (os, "replace"), (Path, "write_bytes")]:
                patch.setattr(place, name, counted(getattr(place, name)))
            try:
                save(1)
            except (Exception, KeyboardInterrupt) as error:
                assert calls > broken, error
        assert load() in (0, 1)
        assert sorted(path.name for path in saver.folder.iterdir()) == names
        if calls <= broken:
            break
        save(0)
        assert load() == 0
    assert broken >= 2
    assert load() == 1
