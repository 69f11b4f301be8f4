"""The site's first page, links and formulas."""

from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("mkdocs", reason="mkdocs is not installed")
pytest.importorskip("latex2mathml", reason="latex2mathml is not installed")

from tools import site_files


def page(path):
    source = site_files.ROOT / path
    name = site_files._site_path(source)
    return SimpleNamespace(file=SimpleNamespace(src_uri=name, abs_src_path=str(source)))


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


def test_links_to_the_readme_lead_to_the_first_page():
    text = "[install](../README.md#the-first-translation)"
    changed = site_files.on_page_markdown(text, page("docs/learn.md"), {}, {})
    assert changed == "[install](index.md#the-first-translation)"
    assert Path(site_files._site_path(site_files.ROOT / "CHANGELOG.md")).name == "CHANGELOG.md"
