"""The course links the first use of each term to the glossary, whose links resolve."""

import json
import re
from pathlib import Path

import pytest
from markdown.extensions.toc import slugify

ROOT = Path(__file__).resolve().parents[1]
GLOSSARY = ROOT / "docs" / "glossary.md"
PAGES = [ROOT / "docs" / "learn.md", *sorted(ROOT.glob("examples/[0-9]_*.ipynb"))]

# What is no prose: code, formulas, headings, links to other pages, all but the first cell of a row.
NO_PROSE = re.compile(
    r"```.*?```|`[^`\n]+`|\$\$[^$]+\$\$|\$[^$\n]+\$|^#.*?$|<[^>\n]+>|"
    r"!?\[[^]]*\]\((?!(?:\.\./docs/)?glossary\.md#)[^)]*\)|(?<=[^\n]) \| .*?$",
    re.DOTALL | re.MULTILINE,
)
LINK = re.compile(r"\[(?P<label>[^]]*)\]\((?:\.\./docs/)?glossary\.md#(?P<anchor>[\w-]+)\)")
# Terms of several forms. `None`: an everyday word, or one with another meaning nearby.
FORMS = {
    "Activation function": r"activation functions?|(?i:relu)",
    "Alignment": r"alignments?",
    "Attention weight": r"attention weights?",
    "Cosine": None,
    "Embedding": r"[Ee]mbeddings?",
    "Fine-tuning": r"[Ff]ine-tun(?:ed|ing)",
    "Layer": None,
    "Query, key and value": r"[Qq]uer(?:y|ies)",
    "Recurrent neural network": r"[Rr]ecurrent (?:neural )?networks?|RNNs?",
    "Silenced head": r"[Ss]ilenc(?:e|ed|ing)",
    "Start and end": r"\*start\* and \*end\*|start and end",
    "Top-k and top-p": r"[Tt]op-[kp]",
    "Validation sentences": r"validation sentences",
    "Vocabulary": r"[Vv]ocabular(?:y|ies)",
    "Weights": None,
}


def terms():
    """Returns the pattern of each term of the glossary, by its anchor."""
    patterns = {}
    for title in re.findall(r"^## (.+)$", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE):
        plain = re.escape(title) if title[1:] != title[1:].lower() else f"(?i:{re.escape(title)})"
        form = FORMS.get(title, f"{plain}s?")
        if form:
            patterns[slugify(title, "-")] = re.compile(rf"(?<![\w-])(?:{form})(?![\w-])")
    return patterns


def prose(path):
    """Returns the text of a page, with spaces in the place of what is no prose."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        cells = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
        text = "\n\n".join(cells)
    return NO_PROSE.sub(lambda match: " " * len(match[0]), text)


def first_uses(text):
    """Returns where each term is used first, unless it is a part of a longer term there."""
    text = LINK.sub(lambda link: f"[{link['label']}]".ljust(len(link[0])), text)
    found = [
        (match.start(), -len(match[0]), anchor, match[0])
        for anchor, pattern in terms().items()
        for match in pattern.finditer(text)
    ]
    first, end = {}, 0
    for start, length, anchor, use in sorted(found):
        if start >= end:
            end = start - length
            first.setdefault(anchor, (start, use))
    return first


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_first_use_of_each_term_is_a_link_to_the_glossary(path):
    text = prose(path)
    links = {link.start("label"): link["anchor"] for link in LINK.finditer(text)}
    places = {anchor: start for anchor, (start, _) in first_uses(text).items()}
    assert len(places) > 10
    missing = {anchor: text[max(0, start - 40) : start + 40] for anchor, start in places.items()}
    assert {a: t for a, t in missing.items() if links.get(places[a]) != a} == {}
    assert len(set(links.values())) == len(links), "a term is linked twice"


def test_the_links_of_the_glossary_and_to_it_resolve():
    text = GLOSSARY.read_text(encoding="utf-8")
    entries = re.split(r"^## (.+)$", text, flags=re.MULTILINE)[1:]
    titles, bodies = entries[::2], entries[1::2]
    assert titles == sorted(titles, key=str.lower) and len(titles) > 60
    for title, body in zip(titles, bodies, strict=True):
        ((target, anchor),) = re.findall(r"\]\(([^)#]+)(?:#([^)]+))?\)", body)
        path = GLOSSARY.parent / target
        content = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            content = "\n".join("".join(cell["source"]) for cell in json.loads(content)["cells"])
        headings = [slugify(h, "-") for h in re.findall(r"^#+ (.+)$", content, re.MULTILINE)]
        assert not anchor or anchor in headings, (title, anchor)
    anchors = {slugify(title, "-") for title in titles}
    for path in PAGES:
        used = {link["anchor"] for link in LINK.finditer(prose(path))}
        assert used and used <= anchors, path.name
