"""Train a translator: [--config FILE | --resume DIR] [key=value ...]."""

import argparse
import sys
import time
from pathlib import Path

from transformer_tf.commands import project_folder
from transformer_tf.errors import ConfigError
from transformer_tf.utils.startup import command_line, import_keras_quietly, run_command


def parse_arguments() -> argparse.Namespace:
    """Parses the command line; `--help` lists every key of the configuration."""
    from transformer_tf.config import help_text

    parser = argparse.ArgumentParser(
        description="Train a translator, then score it on the test pairs.",
        epilog=help_text(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run = parser.add_mutually_exclusive_group()
    run.add_argument(
        "--config",
        type=Path,
        default=project_folder() / "configs" / "quickstart.yaml",
        metavar="FILE",
        help="the configuration; by default configs/quickstart.yaml",
    )
    run.add_argument("--resume", type=Path, metavar="DIR", help="resume the run in this folder")
    several = parser.add_argument_group("several machines, with one process each (needs JAX)")
    several.add_argument(
        "--processes", type=int, default=1, metavar="N", help="number of processes"
    )
    several.add_argument(
        "--process", type=int, default=0, metavar="I", help="index of this process, from 0"
    )
    several.add_argument(
        "--coordinator", default="localhost:8476", metavar="HOST:PORT", help="address of process 0"
    )
    parser.add_argument(
        "overrides",
        nargs="*",
        metavar="section.key=value",
        help="change one key of the configuration, such as training.max_epochs=5",
    )
    return parser.parse_intermixed_args()


def main() -> None:
    """Trains a model, scores it on the test pairs and plots the attention of the first sample."""
    arguments = parse_arguments()
    from transformer_tf.config import load_config, load_run_config

    if arguments.resume:
        folder = arguments.resume
        config = load_run_config(folder, arguments.overrides)
    else:
        config = load_config(arguments.config, arguments.overrides)
        name = f"{arguments.config.stem}-{time.strftime('%Y%m%d-%H%M%S')}"
        folder = (config.training.directory or Path("runs") / name).expanduser()

    group = None
    if arguments.processes > 1:
        if not (arguments.resume or config.training.directory):
            raise ConfigError("Several processes need the same training.directory")
        import_keras_quietly(compute=False)
        from transformer_tf.training.distribution import join

        group = join(arguments.coordinator, arguments.processes, arguments.process)
    import_keras_quietly()
    from transformer_tf.attention_maps import save_figure
    from transformer_tf.evaluation.report import evaluate, write_scores
    from transformer_tf.training.reports import summary_table
    from transformer_tf.training.trainer import Trainer
    from transformer_tf.translator import Translator

    trainer = Trainer(config, folder, resume=arguments.resume is not None, group=group)
    print(f"{trainer.data.table()}\n\n{trainer.summary()}", file=sys.stderr)
    translator = Translator.from_config(
        config, trainer.translation_model, trainer.source_tokenizer, trainer.target_tokenizer
    )
    rows = trainer.fit(translator)
    if not trainer.group.is_main:
        return
    print(f"\n{summary_table(rows, config.training.best_metric)}\n", file=sys.stderr)

    scores = evaluate(translator, trainer.corpus.test, progress=True)
    print(scores.summary())
    write_scores(scores, folder / "test.json")
    files = ["the checkpoint", "test.json", "curves.png"]
    samples = config.training.samples
    if samples:
        files.append("samples.txt")
    if samples and translator.fits(samples[0]):
        save_figure(translator.attend(samples[0]).plot(), folder / "attention.png")
        files.append("attention.png")
    print(f"{folder} holds {', '.join(files[:-1])} and {files[-1]}. Next:")
    longer = f"training.max_epochs={2 * config.training.max_epochs}"
    for name, options in (
        ("translate", f'--checkpoint {folder} "A sentence."'),
        ("evaluate", f"--checkpoint {folder}"),
        ("train", f"--resume {folder} {longer}"),
    ):
        print(f"  {command_line(name)} {options}")


def command() -> int:
    """The command `transformer-tf-train`; returns its exit status."""
    return run_command(main)
