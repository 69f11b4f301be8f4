"""Attention scores as one interactive, self-contained HTML page.

The page cannot load anything: its content security policy allows only its own style and script, by
their hashes. Text is embedded as JSON and shown as text, never as markup.
"""

import base64
import dataclasses
import html
import json
import os
import string
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from transformer_tf.attention_maps.bundle import bundle_script, source_hash
from transformer_tf.utils.files import atomic_write_bytes

BROWSER_FILES = Path(__file__).parent / "browser"


@dataclasses.dataclass(frozen=True)
class PageMap:
    """The scores of one kind of attention.

    Attributes:
        scores: Array `(num_layers, num_heads, query_len, key_len)` with values from 0 to 1.
        queries: The `query_len` tokens that attend, with `▁` where a word begins.
        keys: The `key_len` tokens attended to, likewise.
    """

    scores: npt.ArrayLike
    queries: Sequence[str]
    keys: Sequence[str]


@dataclasses.dataclass(frozen=True)
class PageSentence:
    """A sentence, its translation, and the attention between their tokens.

    Attributes:
        source: The sentence.
        translation: Its translation.
        maps: The scores by kind: `encoder`, `decoder`, `cross`.
        source_language: Name of the source language.
        target_language: Name of the target language.
        alignment_heads: Layer and head, from 0, of the cross-attention heads that align words. The
            page opens on the clearest of them, or of all heads if there are none.
    """

    source: str
    translation: str
    maps: Mapping[str, PageMap]
    source_language: str = "Source"
    target_language: str = "Target"
    alignment_heads: Sequence[tuple[int, int]] = ()


def render_page(sentences: Sequence[PageSentence]) -> str:
    """Renders the page.

    Weights are rounded to steps of 1/255: 40 × 40 tokens in 4 layers of 8 heads take 70 KB.

    Args:
        sentences: The sentences to choose from.

    Returns:
        HTML.

    Raises:
        ValueError: If there is no sentence, scores and tokens do not fit together, or sentences
            have maps of different kinds.
    """
    if not sentences:
        raise ValueError("`sentences` must hold at least one sentence. Received: none")
    kinds = [list(sentence.maps) for sentence in sentences]
    if not kinds[0] or any(of_one != kinds[0] for of_one in kinds):
        raise ValueError(
            "All sentences must have maps of the same kinds, at least one. "
            f"Received: {', '.join(map(str, dict.fromkeys(map(tuple, kinds))))}"
        )
    data = {
        "sentences": [
            {
                "source": sentence.source,
                "translation": sentence.translation,
                "languages": {
                    "source": sentence.source_language,
                    "target": sentence.target_language,
                },
                "alignmentHeads": list(sentence.alignment_heads),
                "maps": {kind: _map(kind, each) for kind, each in sentence.maps.items()},
            }
            for sentence in sentences
        ],
    }
    style = (BROWSER_FILES / "page.css").read_text(encoding="utf-8")
    script = bundle_script(BROWSER_FILES / "page.js")
    template = (BROWSER_FILES / "page.html").read_text(encoding="utf-8")
    return string.Template(template).substitute(
        title=html.escape(f"Attention: {sentences[0].source}"),
        policy=(
            "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
            f"style-src {source_hash(style)}; script-src {source_hash(script)}"
        ),
        style=style,
        attention=attention_markup(),
        script=script,
        data=embedded_json(data),
    )


def attention_markup(side: str = "") -> str:
    """Returns the elements that `attention_view.js` fills.

    Args:
        side: HTML to put under the small maps.
    """
    template = (BROWSER_FILES / "attention.html").read_text(encoding="utf-8")
    return string.Template(template).substitute(side=side)


def embedded_json(data: Any) -> str:
    """Returns JSON for a `<script>` element; no text in it can end the element."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def save_page(sentences: Sequence[PageSentence], path: str | os.PathLike[str]) -> None:
    """Writes the page atomically, and creates its folder if missing.

    Args:
        sentences: As in `render_page`.
        path: Where to write it.

    Raises:
        OSError: If it cannot be written.
        ValueError: As in `render_page`.
    """
    content = render_page(sentences)
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Lone surrogates, as in a damaged argument, become question marks.
    atomic_write_bytes(path, content.encode("utf-8", "replace"))


def _map(kind: str, each: PageMap) -> dict[str, Any]:
    scores = np.asarray(each.scores, dtype=np.float64)
    expected = ("num_layers", "num_heads", len(each.queries), len(each.keys))
    if scores.ndim != 4 or 0 in scores.shape or scores.shape[2:] != expected[2:]:
        raise ValueError(
            f"The scores of {kind!r} must have shape ({', '.join(map(str, expected))}), none of "
            f"them 0. Received: scores.shape={scores.shape}"
        )
    if not (scores.min() >= -0.01 and scores.max() <= 1.01):  # NaN fails as well
        raise ValueError(
            f"The scores of {kind!r} must lie between 0 and 1. "
            f"Received: values from {scores.min()} to {scores.max()}"
        )
    weights = np.rint(255 * scores.clip(0, 1)).astype(np.uint8)
    return {
        "layers": scores.shape[0],
        "heads": scores.shape[1],
        "queries": list(each.queries),
        "keys": list(each.keys),
        "scores": base64.b64encode(weights.tobytes()).decode("ascii"),
    }
