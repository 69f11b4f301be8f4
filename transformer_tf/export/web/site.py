"""Writes the page with its models: a folder for a web server or a double click, or one file."""

from __future__ import annotations

import base64
import dataclasses
import html
import json
import shutil
import string
from collections.abc import Sequence
from pathlib import Path

from transformer_tf.attention_maps.page import BROWSER_FILES, attention_markup, embedded_json
from transformer_tf.checkpoint import open_checkpoint
from transformer_tf.errors import CheckpointError
from transformer_tf.export.folders import check_place, new_folder
from transformer_tf.export.web.pack import Quantization, pack_checkpoint
from transformer_tf.utils.bundle import bundle_module, bundle_script, source_hash
from transformer_tf.utils.files import atomic_write_bytes

FILES = Path(__file__).parent
INDEX_FILE = "index.html"
MODULE_FILE = "translator.js"
PREVIEW_FILE = "preview.png"
PREVIEW_SIZE = (1200, 630)  # pixels; what link previews show whole


@dataclasses.dataclass(frozen=True)
class ListedModel:
    """A model of the page.

    Attributes:
        name: The name of its files.
        source: Code of the source language.
        target: Code of the target language.
    """

    name: str
    source: str
    target: str


def export_web(
    folders: Sequence[Path],
    output: Path,
    quantization: Quantization = "int8",
    single_file: bool = False,
    url: str | None = None,
) -> None:
    """Writes checkpoints as a page that translates and shows how.

    A folder holds `index.html`, and each model twice: `NAME.gz` for web servers, and `NAME.js` for
    a page that is opened from a file, which may load only scripts. `translator.js` is a module for
    other pages and for Node.js.

    Args:
        folders: The checkpoints to choose from, the default first.
        output: The new folder, or the file, which is replaced.
        quantization: How weights are stored, as in `pack_checkpoint`.
        single_file: Whether to write one HTML file that holds everything.
        url: The address that the folder will have. Link previews then show a picture of the page,
            which they only read from a full address.

    Raises:
        CheckpointError: If a checkpoint cannot be read, the page does not support its tokenizer,
            the output cannot be written, or `url` is not one that link previews read.
    """
    models = [listed_model(folder) for folder in folders]
    names = [model.name for model in models]
    if len(set(names)) < len(names):
        raise CheckpointError("The checkpoints must have different folder names")
    if url is not None and single_file:
        raise CheckpointError("A single file has no picture beside it: --url is for a folder")
    if url is not None and not url.startswith(("http://", "https://")):
        raise CheckpointError(f"--url must begin with http:// or https://. Received: {url}")
    if single_file:
        if output.is_dir():
            raise CheckpointError(f"{output} is a folder; --single-file writes a file")
        packs = [pack_checkpoint(folder, quantization) for folder in folders]
        try:
            output.parent.mkdir(parents=True, exist_ok=True)
            atomic_write_bytes(output, render_site(models, packs).encode())
        except OSError as error:
            raise CheckpointError(f"Cannot write {output}: {error.strerror}") from error
        return
    check_place(output)
    packs = [pack_checkpoint(folder, quantization) for folder in folders]
    with new_folder(output) as partial:
        partial.mkdir(parents=True)
        (partial / INDEX_FILE).write_text(render_site(models, url=url), encoding="utf-8")
        if url is not None:
            shutil.copyfile(FILES / "page" / PREVIEW_FILE, partial / PREVIEW_FILE)
        (partial / MODULE_FILE).write_text(module(), encoding="utf-8")
        for name, pack in zip(names, packs, strict=True):
            (partial / f"{name}.gz").write_bytes(pack)
            text = f"receivePack({json.dumps(base64.b64encode(pack).decode())});\n"
            (partial / f"{name}.js").write_text(text)


def module() -> str:
    """Returns the translator of the page as one JavaScript module, which exports `Translator`."""
    script = bundle_module(FILES / "engine" / "translator.js", "Translator")
    return script.replace('static kernel = ""', f'static kernel = "{_kernel()}"')


def _kernel() -> str:
    return base64.b64encode((FILES / "engine" / "kernel.wasm").read_bytes()).decode()


def listed_model(folder: Path) -> ListedModel:
    """Lists a checkpoint by the name of its folder and its languages."""
    data = open_checkpoint(folder)[0].data
    return ListedModel(folder.resolve().name, data.source_language, data.target_language)


def render_site(
    models: Sequence[ListedModel], packs: Sequence[bytes] | None = None, url: str | None = None
) -> str:
    """Renders the page.

    Args:
        models: The models to choose from.
        packs: The models to embed in the page; None if they are separate files.
        url: The address of its folder, for link previews; None if it is not known.

    Returns:
        HTML. Its content security policy allows its own script, a worker, WebAssembly, and the
        models if they are separate files.
    """
    style = "".join(
        path.read_text(encoding="utf-8")
        for path in (BROWSER_FILES / "page.css", FILES / "page" / "site.css")
    )
    script = bundle_script(FILES / "page" / "main.js")
    beside = "" if packs else " 'self'"
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src {source_hash(style)}; worker-src blob:; "
        f"script-src {source_hash(script)} 'wasm-unsafe-eval'{beside}"
        + (f"; connect-src{beside}" if beside else "")
    )
    data = {
        "models": [dataclasses.asdict(model) for model in models],
        "kernel": _kernel(),
        "packs": [base64.b64encode(pack).decode() for pack in packs or ()],
        "worker": bundle_script(FILES / "engine" / "worker.js"),
        "texts": {
            path.stem: json.loads(path.read_text(encoding="utf-8"))
            for path in sorted((FILES / "texts").glob("*.json"))
        },
    }
    template = string.Template((FILES / "page" / "site.html").read_text(encoding="utf-8"))
    return template.substitute(
        preview=_preview(url) if url else "",
        policy=policy,
        style=style,
        script=script,
        attention=attention_markup((FILES / "page" / "side.html").read_text(encoding="utf-8")),
        data=embedded_json(data),
    )


def _preview(url: str) -> str:
    """Returns the elements of the head that give link previews a picture."""
    folder = url if url.endswith("/") else f"{url}/"
    width, height = PREVIEW_SIZE
    contents = {
        "og:url": folder,
        "og:image": folder + PREVIEW_FILE,
        "og:image:width": str(width),
        "og:image:height": str(height),
        "og:image:alt": "A sentence above its translation, with arcs between their words",
    }
    elements = [
        f'<meta property="{name}" content="{html.escape(content)}">\n'
        for name, content in contents.items()
    ]
    return "".join(elements) + '<meta name="twitter:card" content="summary_large_image">\n'
