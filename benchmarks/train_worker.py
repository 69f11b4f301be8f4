"""The process of one system of `benchmarks.train`.

`python -m benchmarks.train_worker KIND FOLDER` reads the number of a round from standard input,
trains on the batches of that round, and prints its seconds and the peak memory as a JSON line; for
round 0 also the seconds of the first step. For `null` it prints the peak memory alone.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from transformer_tf.config import Config, load_saved_config
from transformer_tf.text.batching.batches import Batch
from transformer_tf.utils.memory import peak_memory_mb

Train = Callable[[Sequence[Batch]], object]
"""Trains on batches, one after the other."""


def ours(config: Config) -> Train:
    """This package's model and loss in `fit`, as the trainer calls it."""
    from transformer_tf.utils.startup import import_keras_quietly

    import_keras_quietly()
    import dataclasses

    from transformer_tf.runs.plan import make_schedule, plan_run
    from transformer_tf.training.model import compile_training_model
    from transformer_tf.training.stream import as_dataset
    from transformer_tf.transformer import Transformer

    size = int(config.tokenizer.vocab_size) + 2
    transformer = Transformer(
        **dataclasses.asdict(config.model),
        source_vocab_size=size,
        target_vocab_size=size,
        dtype=config.training.precision,
    )
    transformer.build()
    plan = plan_run(config.training, steps_per_epoch=1000)
    schedule = make_schedule(config.training, plan, config.model.d_model)
    model = compile_training_model(transformer, config.training, schedule)

    def train(batches: Sequence[Batch]) -> None:
        def weighted():
            for inputs, target in batches:
                real = (target != 0).astype("float32")
                yield inputs, target, real / real.sum()

        model.fit(
            as_dataset(weighted, len(batches)),
            steps_per_epoch=len(batches),
            shuffle=False,
            verbose=0,
        )

    return train


def article(config: Config) -> Train:
    """The article's loop."""
    from transformer_tf.utils.startup import import_keras_quietly

    import_keras_quietly()
    from benchmarks.baselines.article import make_step

    step = make_step(*sizes(config))

    def train(batches: Sequence[Batch]) -> None:
        for inputs, target in batches:
            loss = step(inputs["source"], inputs["target_input"], target)
        float(loss)

    return train


def torch(config: Config) -> Train:
    """PyTorch."""
    from benchmarks.baselines.torch_transformer import make_step

    step = make_step(*sizes(config))

    def train(batches: Sequence[Batch]) -> None:
        for inputs, target in batches:
            step(inputs["source"], inputs["target_input"], target)

    return train


def sizes(config: Config) -> tuple[int, int, int, int, float, int]:
    """Returns layers, d_model, heads, d_ff, dropout and vocabulary size of the baselines."""
    model = config.model
    return (
        model.num_layers,
        model.d_model,
        model.num_heads,
        model.d_ff,
        model.dropout_rate,
        int(config.tokenizer.vocab_size) + 2,
    )


def read(path: Path) -> list[Batch]:
    """Reads the batches of a round."""
    with path.open("rb") as file, np.load(file) as arrays:
        return [
            (
                {"source": arrays[f"source{n}"], "target_input": arrays[f"input{n}"]},
                arrays[f"output{n}"],
            )
            for n in range(len(arrays) // 3)
        ]


def main() -> None:
    """Answers requests until standard input ends."""
    kind, folder = sys.argv[1], Path(sys.argv[2])
    config = load_saved_config(folder / "config.yaml")
    train = {"ours": ours, "article": article, "torch": torch}[kind](config)
    for line in sys.stdin:
        round_index = json.loads(line)
        answer = {"peak_mb": peak_memory_mb()}
        if round_index is not None:
            batches = read(folder / f"{round_index}.npz")
            begin = time.perf_counter()
            if round_index == 0:
                train(batches[:1])
                answer["first"] = time.perf_counter() - begin
            train(batches)
            answer["seconds"] = time.perf_counter() - begin
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
