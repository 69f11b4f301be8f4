"""Attention scores as one interactive, self-contained HTML page.

The page loads nothing from outside: its content security policy allows only its own style and
script, by their hashes, and images inside it. Text is embedded as JSON and shown as text, never as
markup.
"""

from __future__ import annotations

import base64
import html
import json
import os
import string
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from transformer_tf.utils.bundle import bundle_script, source_hash
from transformer_tf.utils.files import atomic_write_bytes

if TYPE_CHECKING:
    from transformer_tf.attention_maps.attention_scores import Attention

BROWSER_FILES = Path(__file__).parent / "browser"


def render_page(attentions: Sequence[Attention]) -> str:
    """Renders the page.

    Weights are rounded to steps of 1/255: 40 × 40 tokens in 4 layers of 8 heads take 70 KB
    for each kind of attention.

    Args:
        attentions: The translated sentences to choose from. The page opens on the clearest
            alignment head of the first sentence, or on the clearest of all heads if it has none.

    Returns:
        HTML.

    Raises:
        ValueError: If there is no sentence.
    """
    if not attentions:
        raise ValueError("`attentions` must hold at least one sentence. Received: none")
    data = {
        "sentences": [
            {
                "source": attention.source,
                "translation": attention.translation,
                "languages": {
                    "source": attention.source_language,
                    "target": attention.target_language,
                },
                "alignmentHeads": list(attention.alignment_heads),
                "alignmentQuery": attention.alignment_query,
                "maps": {kind: _map(attention, kind) for kind in attention.scores},
            }
            for attention in attentions
        ],
    }
    style = (BROWSER_FILES / "page.css").read_text(encoding="utf-8")
    script = bundle_script(BROWSER_FILES / "page.js")
    template = (BROWSER_FILES / "page.html").read_text(encoding="utf-8")
    return string.Template(template).substitute(
        title=html.escape(f"Attention: {attentions[0].source}"),
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


def save_page(attentions: Sequence[Attention], path: str | os.PathLike[str]) -> None:
    """Writes attention maps as one interactive HTML page, atomically.

    Args:
        attentions: As in `render_page`.
        path: Where to write it, in an existing folder.

    Raises:
        OSError: If it cannot be written.
        ValueError: As in `render_page`.
    """
    content = render_page(attentions)
    # Lone surrogates, as in an argument that is not UTF-8, become question marks.
    atomic_write_bytes(Path(path), content.encode("utf-8", "replace"))


def _map(attention: Attention, kind: str) -> dict[str, Any]:
    scores = attention.scores[kind]
    queries, keys = attention.tokens(kind)
    quantized = np.rint(255 * scores.clip(0, 1)).astype(np.uint8)
    return {
        "layers": scores.shape[0],
        "heads": scores.shape[1],
        "queries": queries,
        "keys": keys,
        "scores": base64.b64encode(quantized.tobytes()).decode("ascii"),
    }
