"""A hook of MkDocs: adds the pages, notebooks and source files outside of docs/ to the site.

On a code host, a page in docs/ can link to any file of the repository. The site has only the files
that this hook adds: README.md as the page of the first steps, other pages and notebooks under their
own path, and each linked source file as a text file. Links are changed accordingly. The formulas of
notebooks become MathML, which browsers draw without a script. Their figures become files, which a
click opens in full size.

The site also has the page that translates, in the folder `page`. Links to the page that a running
notebook serves lead there. The tables of the API pages, which are all that a code host shows, are
followed by the documentation of each name in them. The pages of `tools.reference` are made again.
"""

from __future__ import annotations

import base64
import html
import json
import os
import posixpath
import re
from pathlib import Path

import yaml
from latex2mathml.converter import convert
from markdown.extensions.toc import slugify
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority, get_plugin_logger
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from tools import reference
from transformer_tf.export.web.site import export_web

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
FIGURES = ROOT / "examples/figures.yaml"
PAGES = ("*.md", "checkpoints/*/MODEL_CARD.md", "examples/*.ipynb")
MARKDOWN_LINK = re.compile(r"\[(?P<label>[^]]*)\]\((?P<path>[^)\s#:]+)(?P<anchor>#[^)\s]*)?\)")
HTML_LINK = re.compile(r'<a href="(?P<path>[^"#:]+)(?P<anchor>#[^"]*)?"')
MARKDOWN_CELL = re.compile(r'jp-RenderedMarkdown.*?(?=<div class="jp-Cell|<script|\Z)', re.DOTALL)
IMAGE = re.compile(r'<img [^>]*?src="(?P<source>[^"]+)"[^>]*>')
LINKED_IMAGE = re.compile(rf"(?P<link><a [^>]*>)?{IMAGE.pattern}")
API_ROW = re.compile(r"^\| \[`(?P<name>\w+)`\]\(\.\./\.\./(?P<path>[\w/]+)\.py\) \|", re.MULTILINE)
TOPIC = re.compile(r"(?<!exercise )\b(?P<number>[0-7])\b|(?<!\*)\*(?P<heading>[^*|]+)\*")
PAGE_LINK = re.compile(r'(?<=href=")http://localhost:8017/(?=[#"])')  # as in examples/course.py
TRANSLATORS = ("en-de", "de-en", "en-es")
FUNCTION = re.compile(r"<mi>(sin|cos|log)</mi>")  # drawn without a space around it
FORMULA = re.compile(r"\$\$(?P<block>[^$<]+)\$\$|\$(?P<inline>[^$<\n]+)\$")

log = get_plugin_logger("site_files")


@event_priority(100)  # before mkdocs-jupyter, which looks for notebooks
def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds pages, notebooks and the source files that they link to."""
    pages = [path for pattern in PAGES for path in ROOT.glob(pattern)]
    linked = {
        target
        for path in [*pages, *DOCS.rglob("*.md")]
        for link in MARKDOWN_LINK.finditer(path.read_text("utf-8"))
        if (target := _target(path, link["path"])).is_file()
    }
    for path in sorted({*pages, *linked}):
        if DOCS not in path.parents:
            file = File(_site_path(path), str(ROOT), config.site_dir, config.use_directory_urls)
            file.abs_src_path = str(path)
            files.append(file)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Changes the links of a page to paths of the site."""

    def change(link: re.Match[str]) -> str:
        target = _target(Path(page.file.abs_src_path or ""), link["path"])
        if target.is_dir():
            return link["label"]
        if not target.is_file():
            return link[0]  # MkDocs reports it
        path = posixpath.relpath(_site_path(target), posixpath.dirname(page.file.src_uri))
        return f"[{link['label']}]({path}{link['anchor'] or ''})"

    if page.file.src_uri in reference.PAGES:
        markdown = reference.PAGES[page.file.src_uri]()
    if page.file.src_uri.startswith("api/"):
        for row in API_ROW.finditer(markdown):
            markdown += f"\n::: {row['path'].replace('/', '.')}.{row['name']}\n"
    markdown = MARKDOWN_LINK.sub(change, markdown)
    if page.file.src_uri == "learn.md":
        before, title, topics = markdown.partition("## Find a topic\n")
        topics, next_title, after = topics.partition("\n## ")
        markdown = before + title + _link_topics(topics) + next_title + after
    return markdown


def on_page_content(content: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links images to their files, and changes links and formulas of a notebook.

    The plugin mkdocs-jupyter renders notebooks without events.
    """
    content = PAGE_LINK.sub(posixpath.relpath("page/index.html", page.url or "."), content)

    def change(link: re.Match[str]) -> str:
        target = _target(Path(page.file.abs_src_path or ""), link["path"])
        file = files.get_file_from_path(_site_path(target)) if target.is_file() else None
        anchor = link["anchor"] or ""
        return f'<a href="{file.url_relative_to(page.file)}{anchor}"' if file else link[0]

    if not page.file.src_uri.endswith(".ipynb"):
        return LINKED_IMAGE.sub(
            lambda image: (
                image[0]
                if image["link"]
                else f'<a class="figure" href="{image["source"]}">{image[0]}</a>'
            ),
            content,
        )
    content = content.replace('class="anchor-link"', 'class="headerlink"')
    content = _write_figures(content, page)
    content = MARKDOWN_CELL.sub(lambda cell: FORMULA.sub(_math_ml, cell[0]), content)
    name = Path(page.file.src_uri).name
    download = f'<p><a href="{name}" download>Download this notebook</a></p>'
    return download + HTML_LINK.sub(change, content)


def on_post_build(config: MkDocsConfig) -> None:
    """Writes the page that translates."""
    checkpoints = [ROOT / "checkpoints" / name for name in TRANSLATORS]
    export_web(checkpoints, Path(config.site_dir) / "page")


def _math_ml(formula: re.Match[str]) -> str:
    if formula["inline"]:
        return _convert(formula["inline"], "inline")
    parts = formula["block"].split(r"\qquad")  # side by side, if there is room
    drawn = " ".join(_convert(part, "block") for part in parts)
    return f'<span class="formula">{drawn}</span>'


def _convert(formula: str, display: str) -> str:
    math_ml = convert(html.unescape(formula), display=display)
    return FUNCTION.sub(r'<mo lspace="0.17em" rspace="0.17em">\1</mo>', math_ml)


def _write_figures(content: str, page: Page) -> str:
    """Writes the figures of a notebook beside its page, and gives each its alternative text."""
    cells = json.loads(Path(page.file.abs_src_path or "").read_text("utf-8"))["cells"]
    texts = yaml.safe_load(FIGURES.read_text("utf-8"))
    figures = [
        (texts.get(cell["id"]), output["data"]["image/png"])
        for cell in cells
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]
    folder = Path(page.file.abs_dest_path).parent
    folder.mkdir(parents=True, exist_ok=True)
    numbers = iter(range(1, len(figures) + 1))

    def change(image: re.Match[str]) -> str:
        number = next(numbers)
        text, png = figures[number - 1]
        if text is None:
            log.warning("%s: figure %d has no text in %s", page.file.src_uri, number, FIGURES.name)
        name = f"figure_{number}.png"
        (folder / name).write_bytes(base64.b64decode(png))
        alt = html.escape(text or "")
        return f'<a class="figure" href="{name}"><img src="{name}" alt="{alt}"></a>'

    return IMAGE.sub(change, content)


def _link_topics(table: str) -> str:
    """Links numbers and headings of notebooks, such as `1, *Masks*`, in the second column."""
    notebooks = {path.name[0]: path for path in ROOT.glob("examples/*.ipynb")}

    def link_cell(cell: str) -> str:
        path = ""
        anchors: list[str] = []

        def change(topic: re.Match[str]) -> str:
            nonlocal path, anchors
            if number := topic["number"]:
                path = _site_path(notebooks[number])
                anchors = _anchors(notebooks[number])
                return f"[{number}]({path})"
            start = slugify(topic["heading"], "-")
            anchor = next((anchor for anchor in anchors if anchor.startswith(start)), None)
            if anchor is None:
                log.warning("learn.md: %s has no heading %s", path, topic["heading"])
            return f"[{topic[0]}]({path}#{anchor})"

        return TOPIC.sub(change, cell)

    lines = table.split("\n")
    for i, line in enumerate(lines):
        cells = line.split(" | ")
        if len(cells) == 3:
            lines[i] = " | ".join([cells[0], link_cell(cells[1]), cells[2]])
    return "\n".join(lines)


def _anchors(notebook: Path) -> list[str]:
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return [slugify(title, "-") for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE)]


def _target(path: Path, link: str) -> Path:
    return Path(os.path.normpath(path.parent / link))


def _site_path(path: Path) -> str:
    if path == ROOT / "README.md":
        return "start.md"
    if DOCS in path.parents:
        return path.relative_to(DOCS).as_posix()
    is_page = path.suffix in (".md", ".ipynb")
    return path.relative_to(ROOT).as_posix() + ("" if is_page else ".txt")
