"""Export a translator: --format FORMAT --output DIR."""

import argparse
import sys
from pathlib import Path

from transformer_tf.commands import new_parser
from transformer_tf.commands.checkpoints import add_checkpoint, chosen_checkpoints
from transformer_tf.utils.startup import import_keras_quietly, run_command

# The types in which each format can store the weights instead of float32.
FORMATS: dict[str, tuple[str, ...]] = {
    "ctranslate2": ("int8", "int16", "float16", "bfloat16"),
    "saved-model": (),
    "onnx": (),
    "web": ("int8", "float16"),
    "checkpoint": ("int8",),
}


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser("Export a translator for another engine, or as a smaller checkpoint.")
    parser.add_argument(
        "--format",
        required=True,
        choices=tuple(FORMATS),
        help="for CTranslate2 (C++), TensorFlow alone, an ONNX runtime, a web page, or for this "
        "package without the files that only training needs",
    )
    add_checkpoint(parser, several=True)
    parser.add_argument(
        "--output",
        type=Path,
        metavar="DIR",
        required=True,
        help="the new folder; the new file for --single-file",
    )
    parser.add_argument(
        "--single-file", action="store_true", help="for web: write one HTML file, not a folder"
    )
    parser.add_argument(
        "--url",
        help="for web: the address that the folder will have; link previews then show a picture",
    )
    parser.add_argument(
        "--quantization",
        choices=FORMATS["ctranslate2"],
        help="type of the stored weights; by default int8 for web, else float32",
    )
    parser.add_argument(
        "overrides",
        nargs="*",
        metavar="decoding.key=value",
        help="change a key of the search (--format checkpoint)",
    )
    return parser


def parse_arguments() -> argparse.Namespace:
    """Parses the command line."""
    parser = make_parser()
    arguments = parser.parse_intermixed_args()
    types = FORMATS[arguments.format]
    if arguments.quantization not in (None, *types):
        allowed = f"--quantization {' or '.join(types)}" if types else "no --quantization"
        parser.error(f"--format {arguments.format} takes {allowed}")
    if arguments.format != "web" and arguments.single_file:
        parser.error("--single-file is for --format web")
    if arguments.format != "web" and arguments.url is not None:
        parser.error("--url is for --format web")
    if arguments.format != "web" and len(arguments.checkpoint or ()) > 1:
        parser.error("only --format web takes several checkpoints")
    if arguments.format != "checkpoint" and arguments.overrides:
        parser.error(f"{arguments.overrides[0]} is for --format checkpoint")
    return arguments


def main() -> None:
    """Exports a translator."""
    arguments = parse_arguments()
    folders = chosen_checkpoints(arguments)
    if arguments.format != "web":
        import_keras_quietly()
    from transformer_tf.checkpoint import open_checkpoint

    folder = folders[0]
    if arguments.format == "checkpoint":
        from transformer_tf.export.checkpoint_export import export_checkpoint

        quantized = arguments.quantization == "int8"
        export_checkpoint(folder, arguments.output, quantized, arguments.overrides)
    elif arguments.format == "saved-model":
        from transformer_tf.export.saved_model import export_saved_model

        export_saved_model(folder, arguments.output)
    elif arguments.format == "onnx":
        from transformer_tf.export.onnx import export_onnx

        export_onnx(folder, arguments.output)
    elif arguments.format == "web":
        from transformer_tf.export.web.site import Quantization, export_web

        quantization: Quantization = arguments.quantization or "int8"
        export_web(folders, arguments.output, quantization, arguments.single_file, arguments.url)
    else:
        from transformer_tf.export.ctranslate2 import export_ctranslate2

        export_ctranslate2(folder, arguments.output, arguments.quantization)
    if arguments.format in ("saved-model", "onnx") and open_checkpoint(folder)[0].data.placeholders:
        print(
            f"Note: {arguments.format} has no placeholders: times, numbers, names and other values "
            "are translated like other words",
            file=sys.stderr,
        )
    print(f"{', '.join(map(str, folders))} → {arguments.output}")


def command() -> int:
    """The command `transformer-tf-export`; returns its exit status."""
    return run_command(main)
