"""The site's first page, links and formulas."""

import ast
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("mkdocs", reason="mkdocs is not installed")
pytest.importorskip("latex2mathml", reason="latex2mathml is not installed")

from tools import site_files


def page(path):
    source = site_files.ROOT / path
    name = site_files._site_path(source)
    file = SimpleNamespace(src_uri=name, abs_src_path=str(source), abs_dest_path="index.html")
    return SimpleNamespace(file=file, url=name.rpartition(".")[0] + "/")


def test_formulas_of_a_notebook_are_drawn_and_code_is_not():
    content = (
        '<div class="jp-RenderedMarkdown"><p>$a &lt; b$ costs 5</p><p>$$\\frac{x_1}{2}$$</p></div>'
        '<div class="jp-Cell"><pre>price = "$5", "$6"</pre></div>'
        '<div class="jp-RenderedMarkdown"><p>$\\sqrt{d}$</p></div><script>$(a); $(b)</script>'
    )
    drawn = site_files.on_page_content(content, page("examples/1_attention_by_hand.ipynb"), {}, {})
    assert drawn.count("<math") == 3
    assert drawn.count('display="block"') == drawn.count("<mfrac>") == 1
    assert "<mo>&#x0003C;</mo>" in drawn
    assert drawn.count("<msqrt>") == 1
    assert '"$5", "$6"' in drawn
    assert "$(a); $(b)" in drawn


def test_links_of_the_readme_lead_to_pages_of_the_site():
    text = (
        "[Learn\nit](docs/learn.md) [code](setup.py) [part](docs/data.md#splits) [all](docs) [x](y)"
    )
    assert site_files.on_page_markdown(text, page("README.md"), {}, {}) == (
        "[Learn\nit](learn.md) [code](setup.py.txt) [part](data.md#splits) all [x](y)"
    )


def test_links_to_the_readme_lead_to_the_first_steps():
    text = "[install](../README.md#the-first-translation)"
    changed = site_files.on_page_markdown(text, page("docs/learn.md"), {}, {})
    assert changed == "[install](start.md#the-first-translation)"
    assert Path(site_files._site_path(site_files.ROOT / "CHANGELOG.md")).name == "CHANGELOG.md"


def test_links_to_the_page_of_a_notebook_lead_to_that_of_the_site():
    content = '<a href="http://localhost:8017/#s=Hi&amp;view=beam">▶</a> http://localhost:8017/'
    changed = site_files.on_page_content(content, page("examples/5_speaking.ipynb"), {}, {})
    assert (
        '<a href="../../page/index.html#s=Hi&amp;view=beam">▶</a> http://localhost:8017/' in changed
    )


def test_the_tables_of_the_api_pages_are_the_docstrings():
    for path in (site_files.DOCS / "api").glob("*.md"):
        text = path.read_text(encoding="utf-8")
        shown = site_files.on_page_markdown(text, page(path.relative_to(site_files.ROOT)), {}, {})
        rows = re.findall(r"^\| \[`(\w+)`\]\(\.\./\.\./(\S+)\.py\) \| (.+) \|$", text, re.MULTILINE)
        assert len(rows) == shown.count("\n::: ") == text.count("\n| [") > 2
        for name, module, told in rows:
            tree = ast.parse((site_files.ROOT / f"{module}.py").read_text(encoding="utf-8"))
            (node,) = (node for node in tree.body if getattr(node, "name", None) == name)
            first = (ast.get_docstring(node) or "").split("\n\n")[0]
            assert told == first.replace("\n", " "), f"{path.name}: {name}"
            assert f"\n::: {module.replace('/', '.')}.{name}\n" in shown


def test_topics_lead_to_headings_of_notebooks_and_exercises_stay_text():
    table = "| topic | here | elsewhere |\n| the mask | 1, *Masks*; 4, exercise 2 | T 1 |"
    path = "examples/1_attention_by_hand.ipynb"
    assert site_files._link_topics(table).splitlines()[1] == (
        f"| the mask | [1]({path}), [*Masks*]({path}#masks); [4](examples/4_learning.ipynb), "
        "exercise 2 | T 1 |"
    )


def test_each_figure_of_the_course_has_its_text_and_its_file(tmp_path):
    for notebook in sorted((site_files.ROOT / "examples").glob("*.ipynb")):
        pngs = [
            output["data"]["image/png"]
            for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]
            for output in cell.get("outputs", [])
            if "image/png" in output.get("data", {})
        ]
        shown = page(notebook.relative_to(site_files.ROOT))
        shown.file.abs_dest_path = str(tmp_path / notebook.stem / "index.html")
        image = '<img alt="No description" src="data:image/png;base64,AAAA">'
        content = site_files._write_figures(image * len(pngs), shown)
        assert 'alt=""' not in content
        assert len(list((tmp_path / notebook.stem).glob("*.png"))) == len(pngs) > 0
