"""Train a translator: [--config FILE | --resume DIR] [--dry-run] [key=value ...]."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from transformer_tf.catalog import TEST_FILE, find_pair
from transformer_tf.commands import new_parser
from transformer_tf.errors import CheckpointError, ConfigError
from transformer_tf.utils.files import project_folder
from transformer_tf.utils.startup import command_line, import_keras_quietly, run_command
from transformer_tf.utils.tables import grouped

FEW_PAIRS = 10_000

if TYPE_CHECKING:  # the command line needs no configuration
    from transformer_tf.config import Config, DataConfig
    from transformer_tf.runs.trainer import Trainer
    from transformer_tf.training.distribution import ProcessGroup


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(
        "Train a translator, then score it on the test pairs.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
    )
    parser.add_argument(
        "-h",
        "--help",
        nargs="?",
        action=_Help,
        metavar="TOPIC",
        help="show the keys that most runs change; with a TOPIC, the keys of a section, one key, "
        "or all keys",
    )
    run = parser.add_mutually_exclusive_group()
    run.add_argument(
        "--config",
        metavar="FILE",
        help="the configuration: a file, or a name such as tatoeba; by default fine_tune with "
        "training.start_from, else own with a corpus or files, else quickstart",
    )
    run.add_argument(
        "--resume",
        type=Path,
        metavar="DIR",
        help="resume this run, or the newest one in a folder of runs",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="show the data, the plan, the time and the memory of the run, then stop",
    )
    parser.add_argument(
        "--name",
        help="the run goes to runs/NAME, or to NAME if it is a path such as ./NAME; by default its "
        "name is the corpus or its first file, with date and time",
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
    return parser


def parse_arguments() -> argparse.Namespace:
    """Parses the command line."""
    return make_parser().parse_intermixed_args()


class _Help(argparse.Action):
    """Prints the help with the keys of the configuration, and ends the program."""

    def __call__(self, parser, namespace, values, option_string=None):
        from transformer_tf.config import help_text

        text = help_text(values, shutil.get_terminal_size().columns)
        if values is None:
            parser.epilog = text
            parser.print_help()
        else:
            print(text)
        parser.exit()


def main() -> None:
    """Trains a model, scores it on the test pairs and plots the attention of the first sample."""
    arguments = parse_arguments()
    config, folder = _choose_run(arguments)
    if arguments.dry_run:
        _dry_run(config, arguments)
        return
    group = _join_processes(arguments) if arguments.processes > 1 else None
    import_keras_quietly()
    from transformer_tf.runs.reports import summary_table
    from transformer_tf.runs.trainer import Trainer
    from transformer_tf.translator import Translator

    trainer = Trainer(config, folder, resume=arguments.resume is not None, group=group).prepare()
    if trainer.finished and (folder / TEST_FILE).is_file():
        trainer.close()
        print(
            f"{folder} is finished after step {trainer.progress.step}. To train longer:\n"
            f"  {_longer(config, folder)}",
            file=sys.stderr,
        )
        return
    print(f"{trainer.data.table()}\n\n{trainer.summary()}", file=sys.stderr)
    print(f"The run goes to {folder}", file=sys.stderr)
    _print_note(trainer, arguments)

    def make_translator() -> Translator:
        return Translator.from_model(
            trainer.model, config, trainer.source_tokenizer, trainer.target_tokenizer
        )

    rows = trainer.fit(make_translator)
    if trainer.group.is_main:
        print(f"\n{summary_table(rows)}\n", file=sys.stderr)
        _evaluate(trainer)


def _choose_run(arguments: argparse.Namespace) -> tuple[Config, Path]:
    """Returns the configuration and the folder of a new or a resumed run."""
    from transformer_tf.config import load_config, load_run_config
    from transformer_tf.runs.folder import find_run

    if not arguments.resume:
        config = load_config(
            arguments.config or default_config(arguments.overrides), arguments.overrides
        )
        return config, _new_folder(config, arguments.name)
    if arguments.name or arguments.dry_run:
        raise ConfigError("--name and --dry-run are for new runs, not for --resume")
    folder = find_run(arguments.resume)
    return load_run_config(folder, arguments.overrides), folder


def _join_processes(arguments: argparse.Namespace) -> ProcessGroup:
    """Joins this process to the others of the run."""
    if not (arguments.resume or arguments.name):
        raise ConfigError("Several processes need the same --name")
    import_keras_quietly(compute=False)
    from transformer_tf.training.distribution import join

    return join(arguments.coordinator, arguments.processes, arguments.process)


def _evaluate(trainer: Trainer) -> None:
    """Scores the best weights, plots the attention of the first sample and says what comes next."""
    from transformer_tf.evaluation.report import report, write_report
    from transformer_tf.plots.style import save_figure
    from transformer_tf.runs.folder import CURVES_FILE, SAMPLES_FILE
    from transformer_tf.translator import Translator

    folder, samples = trainer.folder, trainer.samples
    translator = Translator.load(folder)
    sources, references = zip(*trainer.corpus.test, strict=True)
    found = report(translator, sources, references, resamples=0, worst=0, progress=True)
    print(found.summary())
    write_report(found, folder / TEST_FILE)
    files = ["the checkpoint", TEST_FILE, CURVES_FILE]
    if samples:
        files.append(SAMPLES_FILE)
    if samples and translator.fits(samples[0]):
        save_figure(translator.attend(samples[0]).plot(), folder / "attention.png")
        files.append("attention.png")
    place = shlex.quote(str(folder))
    print(
        f"{folder} holds {', '.join(files[:-1])} and {files[-1]}. Next:\n"
        f'  {command_line("translate")} --checkpoint {place} "A sentence."\n'
        f"  {command_line('evaluate')} --checkpoint {place}\n"
        f"  {_longer(trainer.config, folder)}"
    )


def _longer(config: Config, folder: Path) -> str:
    """Returns the command that goes on with a run until twice its limits."""
    names = ("max_epochs", "max_steps", "max_minutes", "patience")
    limits = {name: getattr(config.training, name) for name in names}
    longer = " ".join(f"training.{name}={2 * limit}" for name, limit in limits.items() if limit)
    return f"{command_line('train')} --resume {shlex.quote(str(folder))} {longer}"


def _dry_run(config: Config, arguments: argparse.Namespace) -> None:
    """Reports on a new run without training it."""
    if arguments.processes > 1:
        raise ConfigError("--dry-run needs one process")
    import_keras_quietly()
    from transformer_tf.runs.dry_run import report, scratch_trainer

    with scratch_trainer(config) as trainer:
        for part in report(trainer):
            print(f"{part}\n", flush=True)
        _print_note(trainer, arguments)


def default_config(overrides: Sequence[str]) -> str:
    """Returns the name of the configuration of a command line without `--config`.

    Args:
        overrides: Its strings `section.key=value`.
    """
    values = {key: value for key, _, value in (each.partition("=") for each in overrides)}
    if "training.start_from" in values:
        return "fine_tune"
    if "data.files" in values or values.get("data.corpus", "phrasebook") != "phrasebook":
        return "own"
    return "quickstart"


def few_pairs_note(num_pairs: int, data: DataConfig, overrides: Sequence[str]) -> str:
    """Explains what to expect of a run with few training pairs, and how to do better.

    Args:
        num_pairs: The number of training pairs.
        data: The configuration with the languages.
        overrides: The strings `section.key=value` of the command line.
    """
    try:
        start = find_pair(data.source_language, data.target_language).name
    except CheckpointError:  # none for these languages
        start = "DIR"
    kept = [each for each in overrides if not each.startswith(("model.", "tokenizer."))]
    command = [command_line("train"), *map(shlex.quote, kept), f"training.start_from={start}"]
    return (
        f"{grouped(num_pairs)} training pairs are few. A translator that learns from them alone "
        "knows only their words, and is often wrong about others. It is better to start from a "
        f"translator of the same languages:\n  {' '.join(command)}\n"
        f"If there is none, take the smaller sizes of {project_folder() / 'configs' / 'own.yaml'}"
    )


def _print_note(trainer: Trainer, arguments: argparse.Namespace) -> None:
    """Prints `few_pairs_note` for a new run of the default configuration, if it applies."""
    new = not (arguments.resume or arguments.config or trainer.config.training.start_from)
    count = len(trainer.corpus.train)
    if new and count < FEW_PAIRS:
        note = few_pairs_note(count, trainer.config.data, arguments.overrides)
        print(f"\n{note}\n", file=sys.stderr)


def _new_folder(config: Config, name: str | None) -> Path:
    """Returns the folder of a new run."""
    from transformer_tf.runs.folder import run_name

    if name is None:
        name = f"{run_name(config.data)}-{time.strftime('%Y%m%d-%H%M%S')}"
    if name in ("", ".."):
        raise ConfigError(f"--name must be a name or a path, not {name!r}")
    path = Path(name)
    return Path("runs") / name if path.name == name else path.expanduser()


def command() -> int:
    """The command `transformer-tf-train`; returns its exit status."""
    return run_command(main)
