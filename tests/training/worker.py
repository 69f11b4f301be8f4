"""One process of a run that several share: python -m tests.training.worker DATA FOLDER SIZE NUMBER
PORT [KEY=VALUE ...]; a size of 1 is a run of its own."""

import sys
from pathlib import Path

from transformer_tf.startup import import_keras_quietly

if __name__ == "__main__":
    data, folder, size, number, port, *overrides = sys.argv[1:]
    from transformer_tf.training.distribution import join

    group = join(f"localhost:{port}", int(size), int(number)) if int(size) > 1 else None
    import_keras_quietly()
    from transformer_tf.config import load_config, load_run_config
    from transformer_tf.training.trainer import Trainer

    if "resume" in overrides:
        overrides.remove("resume")
        trainer = Trainer(load_run_config(Path(folder), overrides), Path(folder), True, group)
    else:
        config = load_config(None, [f"data.directory={data}", *overrides])
        trainer = Trainer(config, Path(folder), group=group)
    rows = trainer.fit()
    print(rows[-1]["step"], rows[-1]["val_perplexity"])
