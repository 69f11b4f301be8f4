"""A hook of MkDocs: adds the pages, notebooks and source files outside of docs/ to the site.

On a code host, a page in docs/ can link to any file of the repository. The site has only the files
that this hook adds: README.md as its first page, other pages and notebooks under their own path,
and each linked source file as a text file. Links are changed accordingly. The formulas of notebooks
become MathML, which browsers draw without a script.
"""

from __future__ import annotations

import html
import os
import posixpath
import re
from pathlib import Path

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = ("*.md", "checkpoints/*/MODEL_CARD.md", "examples/*.ipynb")
MARKDOWN_LINK = re.compile(r"\[(?P<label>[^]]*)\]\((?P<path>[^)\s#:]+)(?P<anchor>#[^)\s]*)?\)")
HTML_LINK = re.compile(r'<a href="(?P<path>[^"#:]+)(?P<anchor>#[^"]*)?"')
MARKDOWN_CELL = re.compile(r'jp-RenderedMarkdown.*?(?=<div class="jp-Cell|<script|\Z)', re.DOTALL)
FORMULA = re.compile(r"\$\$(?P<block>[^$<]+)\$\$|\$(?P<inline>[^$<\n]+)\$")


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

    return MARKDOWN_LINK.sub(change, markdown)


def on_page_content(content: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Changes links and formulas of a notebook, which mkdocs-jupyter renders without events."""

    def change(link: re.Match[str]) -> str:
        target = _target(Path(page.file.abs_src_path or ""), link["path"])
        file = files.get_file_from_path(_site_path(target)) if target.is_file() else None
        anchor = link["anchor"] or ""
        return f'<a href="{file.url_relative_to(page.file)}{anchor}"' if file else link[0]

    if not page.file.src_uri.endswith(".ipynb"):
        return content
    content = MARKDOWN_CELL.sub(lambda cell: FORMULA.sub(_math_ml, cell[0]), content)
    return HTML_LINK.sub(change, content)


def _math_ml(formula: re.Match[str]) -> str:
    display = "block" if formula["block"] else "inline"
    return convert(html.unescape(formula["block"] or formula["inline"]), display=display)


def _target(path: Path, link: str) -> Path:
    return Path(os.path.normpath(path.parent / link))


def _site_path(path: Path) -> str:
    if path == ROOT / "README.md":
        return "index.md"
    if DOCS in path.parents:
        return path.relative_to(DOCS).as_posix()
    is_page = path.suffix in (".md", ".ipynb")
    return path.relative_to(ROOT).as_posix() + ("" if is_page else ".txt")
