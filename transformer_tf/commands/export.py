"""Export a translator: --format FORMAT --output DIR."""

import argparse
from pathlib import Path

from transformer_tf.commands import add_checkpoint, project_folder
from transformer_tf.startup import import_keras_quietly, run_command

QUANTIZATIONS = ("int8", "int16", "float16", "bfloat16")


def parse_arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        description="Write a checkpoint for another engine, or to be handed on."
    )
    parser.add_argument(
        "--format",
        required=True,
        choices=("ctranslate2", "saved-model", "onnx", "checkpoint"),
        help="what it is for: the C++ engine, TensorFlow alone, an ONNX runtime, or this package, "
        "without what only training needs",
    )
    add_checkpoint(parser)
    parser.add_argument("--output", type=Path, metavar="DIR", required=True, help="the new folder")
    parser.add_argument(
        "--quantization", choices=QUANTIZATIONS, help="store weights so; by default as float32"
    )
    parser.add_argument(
        "overrides",
        nargs="*",
        metavar="decoding.key=value",
        help="for checkpoint and saved-model: how to search",
    )
    arguments = parser.parse_args()
    if arguments.format == "checkpoint" and arguments.quantization not in (None, "float16"):
        parser.error("--format checkpoint stores weights as float32, or --quantization float16")
    if arguments.format in ("saved-model", "onnx") and arguments.quantization:
        parser.error(f"--format {arguments.format} stores weights as float32")
    if arguments.format in ("ctranslate2", "onnx") and arguments.overrides:
        parser.error(f"{arguments.overrides[0]} is for --format checkpoint and saved-model")
    return arguments


def main() -> None:
    """Exports what the command line says."""
    arguments = parse_arguments()
    import_keras_quietly()
    from transformer_tf.checkpoint import find_checkpoint

    folder = find_checkpoint(project_folder(), arguments.checkpoint)
    if arguments.format == "checkpoint":
        from transformer_tf.export.lean import export_checkpoint

        half = arguments.quantization == "float16"
        export_checkpoint(folder, arguments.output, half, arguments.overrides)
    elif arguments.format == "saved-model":
        from transformer_tf.export.saved_model import export_saved_model

        export_saved_model(folder, arguments.output, tuple(arguments.overrides))
    elif arguments.format == "onnx":
        from transformer_tf.export.onnx import export_onnx

        export_onnx(folder, arguments.output)
    else:
        from transformer_tf.export.ctranslate2 import export_ctranslate2

        export_ctranslate2(folder, arguments.output, arguments.quantization)
    print(f"{folder} → {arguments.output}")


def command() -> int:
    """The command `transformer-tf-export`; returns its exit status."""
    return run_command(main)
