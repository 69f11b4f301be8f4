"""Train a translator: [--config FILE | --resume DIR | --list] [--dry-run] [key=value ...]."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from transformer_tf.commands import project_folder
from transformer_tf.errors import ConfigError
from transformer_tf.utils.startup import command_line, import_keras_quietly, run_command

if TYPE_CHECKING:  # the command line needs no configuration
    from transformer_tf.config import Config


def parse_arguments() -> argparse.Namespace:
    """Parses the command line."""
    parser = argparse.ArgumentParser(
        description="Train a translator, then score it on the test pairs.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
    )
    parser.add_argument(
        "-h",
        "--help",
        nargs="?",
        choices=["all"],
        action=_Help,
        metavar="all",
        help="show the keys that most runs change, or all",
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
    run.add_argument(
        "--list",
        type=Path,
        nargs="?",
        const=Path("runs"),
        metavar="DIR",
        help="list the runs in a folder, by default runs, instead of training",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="show the data, the plan, the time and the memory of the run, then stop",
    )
    parser.add_argument(
        "--name",
        help="the run goes to runs/NAME; by default its name is the corpus or its first file, with "
        "date and time",
    )
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


class _Help(argparse.Action):
    """Prints the help with the keys of the configuration, and ends the program."""

    def __call__(self, parser, namespace, values, option_string=None):
        from transformer_tf.config import help_text

        parser.epilog = help_text(values == "all", shutil.get_terminal_size().columns)
        parser.print_help()
        parser.exit()


def main() -> None:
    """Trains a model, scores it on the test pairs and plots the attention of the first sample."""
    arguments = parse_arguments()
    from transformer_tf.config import load_config, load_run_config

    if arguments.list:
        from transformer_tf.training.run_list import runs_table

        print(runs_table(arguments.list) or f"There are no runs in {arguments.list}")
        return
    if arguments.resume:
        folder = arguments.resume
        config = load_run_config(folder, arguments.overrides)
    else:
        config = load_config(arguments.config, arguments.overrides)
        folder = _new_folder(config, arguments.name)
    if arguments.dry_run:
        if arguments.resume or arguments.processes > 1:
            raise ConfigError("--dry-run is for new runs with one process")
        import_keras_quietly()
        from transformer_tf.training.dry_run import dry_run

        for part in dry_run(config):
            print(f"{part}\n", flush=True)
        return
    group = None
    if arguments.processes > 1:
        if not (arguments.resume or arguments.name or config.training.directory):
            raise ConfigError("Several processes need the same --name or training.directory")
        import_keras_quietly(compute=False)
        from transformer_tf.training.distribution import join

        group = join(arguments.coordinator, arguments.processes, arguments.process)
    import_keras_quietly()
    from transformer_tf.attention_maps import save_figure
    from transformer_tf.evaluation.report import evaluate, write_scores
    from transformer_tf.training.reports import summary_table
    from transformer_tf.training.run_folder import TEST_FILE
    from transformer_tf.training.trainer import Trainer
    from transformer_tf.translator import Translator

    trainer = Trainer(config, folder, resume=arguments.resume is not None, group=group)
    print(f"{trainer.data.table()}\n\n{trainer.summary()}", file=sys.stderr)
    print(f"The run goes to {folder}", file=sys.stderr)
    translator = Translator.from_config(
        config, trainer.translation_model, trainer.source_tokenizer, trainer.target_tokenizer
    )
    rows = trainer.fit(translator)
    if not trainer.group.is_main:
        return
    print(f"\n{summary_table(rows, config.training.best_metric)}\n", file=sys.stderr)

    scores = evaluate(translator, trainer.corpus.test, progress=True)
    print(scores.summary())
    write_scores(scores, folder / TEST_FILE)
    files = ["the checkpoint", TEST_FILE, "curves.png"]
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


def _new_folder(config: Config, name: str | None) -> Path:
    """Returns the folder of a new run."""
    from transformer_tf.training.run_folder import run_name

    directory = config.training.directory
    if name is None:
        if directory is not None:
            return directory.expanduser()
        name = f"{run_name(config.data)}-{time.strftime('%Y%m%d-%H%M%S')}"
    elif directory is not None:
        raise ConfigError("--name and training.directory both name the folder of the run: give one")
    elif Path(name).name != name:
        raise ConfigError(f"--name is a name without slashes, not {name!r}")
    return Path("runs") / name


def command() -> int:
    """The command `transformer-tf-train`; returns its exit status."""
    return run_command(main)
