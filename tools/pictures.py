"""Makes the pictures of the docs: python -m tools.pictures [--checkpoint DIR] [--output DIR]."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from PIL import Image

from tools.browser import open_chromium
from transformer_tf.catalog import find_checkpoint
from transformer_tf.export.web.site import FILES, PREVIEW_FILE, PREVIEW_SIZE
from transformer_tf.utils.startup import import_keras_quietly, run_command

ROOT = Path(__file__).resolve().parent.parent
SENTENCE = "My sister wants to buy a new car today."
SCREEN = (1366, 768)
PREVIEW = FILES / "page"  # for the picture that link previews show
PICTURES = ROOT / "docs" / "pictures"
COLORS = 256  # of a palette, which makes a file a third as large


def main() -> None:
    """Makes all pictures with one checkpoint."""
    parser = argparse.ArgumentParser(description="Make the pictures of the docs.")
    parser.add_argument("--checkpoint", default="en-de", metavar="NAME", help="default: en-de")
    parser.add_argument(
        "--output", type=Path, metavar="DIR", default=PICTURES, help="where to, the preview as well"
    )
    arguments = parser.parse_args()
    import_keras_quietly()
    folder = find_checkpoint(arguments.checkpoint)
    arguments.output.mkdir(parents=True, exist_ok=True)
    draw_heat_maps(folder, arguments.output)
    picture_page(folder, SCREEN, arguments.output / "web.png")
    preview = (PREVIEW if arguments.output == PICTURES else arguments.output) / PREVIEW_FILE
    picture_page(folder, PREVIEW_SIZE, preview)
    names = ("cross.png", "sheet.png", "web.png")
    for path in (*(arguments.output / name for name in names), preview):
        with Image.open(path) as picture:
            smaller = picture.convert("RGB").quantize(COLORS, Image.Quantize.MAXCOVERAGE)
        smaller.save(path, optimize=True)


def draw_heat_maps(folder: Path, output: Path) -> None:
    """Draws `cross.png`, the layer that aligns words, and `sheet.png`, those of all layers."""
    from transformer_tf.plots import save_figure
    from transformer_tf.translator import Translator

    attention = Translator.load(folder).attend(SENTENCE)
    save_figure(attention.plot(), output / "cross.png")
    save_figure(attention.plot(layer="all"), output / "sheet.png")


def picture_page(folder: Path, size: tuple[int, int], path: Path) -> None:
    """Takes the first screen of the exported web page, in pixels."""
    from transformer_tf.export.web.site import export_web

    width, height = size
    with tempfile.TemporaryDirectory() as name, open_chromium() as browser:
        file = Path(name) / "page.html"
        export_web([folder], file, single_file=True)
        page = browser.new_page(viewport={"width": width, "height": height})
        page.goto(file.as_uri())
        page.wait_for_selector("body[data-state=ready]")
        page.evaluate("document.activeElement.blur()")
        page.screenshot(path=path)


if __name__ == "__main__":
    sys.exit(run_command(main))
