"""One process of a run.

python -m tests.training.worker FOLDER SIZE INDEX PORT [KEY=VALUE ...]
"""

import sys
from pathlib import Path

from transformer_tf.utils.startup import import_keras_quietly

if __name__ == "__main__":
    folder, size, index, port, *overrides = sys.argv[1:]
    from transformer_tf.training.distribution import join

    group = join(f"localhost:{port}", int(size), int(index)) if int(size) > 1 else None
    import_keras_quietly()
    from transformer_tf.config import load_config, load_run_config
    from transformer_tf.runs.trainer import Trainer

    if "resume" in overrides:
        overrides.remove("resume")
        trainer = Trainer(
            load_run_config(Path(folder), overrides), Path(folder), True, group
        ).prepare()
    else:
        config = load_config(None, overrides)
        trainer = Trainer(config, Path(folder), group=group).prepare()
    rows = trainer.fit()
    print(rows[-1]["step"], rows[-1]["val_perplexity"])
