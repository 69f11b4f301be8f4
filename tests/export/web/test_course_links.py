"""The links of the course open the page at their sentence and view, with their changes."""

import json
import re
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from tests.export.web.conftest import ready

ROOT = Path(__file__).parents[3]
LINK = re.compile(r"http://localhost:8017/#([^)\s]+)\)")
LINKS = {}
for path in [*sorted(ROOT.glob("examples/*.ipynb")), ROOT / "docs" / "index.md"]:
    for found in LINK.findall(path.read_text(encoding="utf-8")):
        LINKS.setdefault(found, path.name)


def test_each_notebook_ends_with_two_links():
    for path in ROOT.glob("examples/[0-9]_*.ipynb"):
        last = "".join(json.loads(path.read_text(encoding="utf-8"))["cells"][-1]["source"])
        assert last.startswith("## Two things to try on the page\n") and last.count("\n- [▶ ") == 2
        assert len(LINK.findall(last)) == 2


@pytest.mark.slow
@pytest.mark.parametrize("link", LINKS, ids=lambda link: f"{LINKS[link]}-{link[-20:]}")
def test_a_link_opens_what_it_names(link, shipped_page, shipped_site):
    page = shipped_page
    page.goto("about:blank")
    page.goto(f"{shipped_site}#{link}")
    ready(page)
    fields = {name: value for name, (value,) in parse_qs(link).items()}
    changes = len(fields.keys() & {"silent", "padding", "positions"})
    assert fields.keys() <= {"s", "view", "head", "silent", "padding", "positions"}
    assert page.input_value("#source") == fields["s"]
    assert page.get_attribute(f"#way-{fields['view']}", "aria-pressed") == "true"
    if "head" in fields:
        layer, head = fields["head"].split(".")
        page.wait_for_selector(f"h2:has-text('Layer {layer}, head {head}')")
    if "silent" in fields:
        assert f"{fields['silent'].count(',') + 1} heads silenced" in page.text_content("#notice")
    if "padding" in fields:
        assert f"{fields['padding']} empty places" in page.text_content("#notice")
    if "positions" in fields:
        assert "No positions" in page.text_content("#notice")
    assert page.is_visible("#notice") == (changes > 0)
