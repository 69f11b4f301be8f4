"""The attention scores of a translation, and views of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from transformer_tf.attention_maps.alignments import Query
from transformer_tf.attention_maps.words import label_steps, label_tokens, merge_words
from transformer_tf.errors import ConfigError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ATTENTION_KINDS = ("encoder", "decoder", "cross")
Kind = Literal["encoder", "decoder", "cross"]
KIND_TITLES = {
    "encoder": "encoder self-attention",
    "decoder": "decoder self-attention",
    "cross": "cross-attention",
}


@dataclasses.dataclass(frozen=True, eq=False)
class AttentionView:
    """A part of the scores with its labels, as `plot_attention` takes them.

    Attributes:
        scores: Array `(num_heads, query_len, key_len)`, or with `num_layers` as its first axis.
        queries: The labels of the queries.
        keys: The labels of the keys.
        head_titles: A title for each of the heads.
    """

    scores: np.ndarray
    queries: list[str]
    keys: list[str]
    head_titles: list[str]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Attention:
    """A translation with the attention scores of every layer and head.

    Attributes:
        source: The sentence.
        translation: Its translation.
        source_tokens: The tokens that the encoder reads, `<start>` and `<end>` included, with `▁`
            where a word begins.
        target_input_tokens: The tokens that the decoder reads, from `<start>` on.
        target_output_tokens: The tokens that the decoder produces. `<end>` is added if
            `decoding.max_length` cut the translation.
        scores: For each kind (`encoder`, `decoder`, `cross`) an array
            `(num_layers, num_heads, query_len, key_len)`.
        source_language: Name of the source language, for the axes of figures.
        target_language: Name of the target language.
        alignment_heads: Layer and head, from 0, of the cross-attention heads that align words; a
            page opens on the clearest of them.
        alignment_query: The query of a target word in these heads, as in `AlignmentHeads`.
    """

    source: str
    translation: str
    source_tokens: list[str]
    target_input_tokens: list[str]
    target_output_tokens: list[str]
    scores: dict[str, np.ndarray]
    source_language: str = "Source"
    target_language: str = "Target"
    alignment_heads: Sequence[tuple[int, int]] = ()
    alignment_query: Query = "output"

    def __repr__(self) -> str:
        sizes = (f"{kind} {len(s)} × {s.shape[1]}" for kind, s in self.scores.items())
        return (
            f"Attention({self.source!r} → {self.translation!r}, layers × heads: {', '.join(sizes)})"
        )

    @property
    def title(self) -> str:
        """The sentence and its translation, as the title of a figure."""
        return f"{self.source}\n→ {self.translation}"

    def tokens(self, kind: str) -> tuple[list[str], list[str]]:
        """Returns the tokens of the queries and of the keys of a kind of attention.

        A decoder query is the token that it produces, a decoder key the token read there.
        """
        return {
            "encoder": (self.source_tokens, self.source_tokens),
            "decoder": (self.target_output_tokens, self.target_input_tokens),
            "cross": (self.target_output_tokens, self.source_tokens),
        }[kind]

    def axes(self, kind: str) -> tuple[str, str]:
        """Returns the axis labels of the queries and of the keys of a kind of attention."""
        source, target = self.source_language, self.target_language
        return {
            "encoder": (f"{source}: looking", f"{source}: looked at"),
            "decoder": (f"{target}: read ▸ chosen", f"{target}: read so far"),
            "cross": (f"{target}: read ▸ chosen", f"{source}: looked at"),
        }[kind]

    def view(
        self,
        kind: Kind = "cross",
        layer: int | Literal["all"] | None = None,
        head: int | Literal["all", "mean"] = "all",
        words: bool = False,
        special: bool = True,
    ) -> AttentionView:
        """Chooses layers and heads, and merges sub-words if asked to.

        Args:
            kind: `encoder` or `decoder` self-attention, or `cross`-attention.
            layer: Number of a layer, from 1; `all` for every layer; None for the layer that aligns
                words in cross-attention, and for the last layer otherwise.
            head: Number of a head, from 1; `all` heads, or their `mean`.
            words: Whether to merge sub-words into words: weights are summed over the keys and
                averaged over the queries.
            special: Whether to keep the start and end tokens. Without them the weights of a query
                add up to less than 1.

        Raises:
            ConfigError: If there is no such kind, layer or head.
        """
        if kind not in ATTENTION_KINDS:
            raise ConfigError(f"kind must be one of {', '.join(ATTENTION_KINDS)}, not {kind}")
        scores = self.scores[kind]
        num_layers, num_heads = scores.shape[:2]
        layer = self._default_layer(kind) if layer is None else layer
        if layer != "all":
            scores = scores[_index("layer", layer, num_layers)]
        titles = [f"Head {number}" for number in range(1, num_heads + 1)]
        if head == "mean":
            scores, titles = scores.mean(axis=-3, keepdims=True), [f"Mean of {num_heads} heads"]
        elif head != "all":
            index = _index("head", head, num_heads)
            scores, titles = scores[..., index : index + 1, :, :], [titles[index]]
        said, looked_at = self.tokens(kind)
        keys, key_labels = label_tokens(looked_at, words, special)
        if kind == "encoder":
            queries, query_labels = keys, key_labels
        else:
            aligns = kind == "cross" and layer == self._default_layer(kind)
            by_read = aligns and self.alignment_query == "input"
            queries, query_labels = label_steps(
                self.target_input_tokens, said, words, special, by_read
            )
        return AttentionView(merge_words(scores, queries, keys), query_labels, key_labels, titles)

    def plot(
        self,
        kind: Kind = "cross",
        layer: int | Literal["all"] | None = None,
        head: int | Literal["all", "mean"] = "all",
        words: bool = False,
        special: bool = True,
        numbers: bool = False,
    ) -> Figure:
        """Draws heat maps. A notebook shows the figure; `save_figure` writes it to a file.

        Args:
            kind: As in `view`.
            layer: As in `view`.
            head: As in `view`.
            words: As in `view`.
            special: As in `view`.
            numbers: Whether to write the weights into the cells.

        Raises:
            ConfigError: As `view`, and if there are no tokens left to draw.
        """
        from transformer_tf.plots.heat_map import plot_attention

        view = self.view(kind, layer, head, words, special)
        if not view.queries or not view.keys:
            raise ConfigError("without start and end tokens there is nothing left to draw")
        number, total = layer or self._default_layer(kind), len(self.scores[kind])
        shown = "all layers" if layer == "all" else f"layer {number} of {total}"
        query_axis, key_axis = self.axes(kind)
        return plot_attention(
            view.scores,
            view.queries,
            view.keys,
            title=self.title,
            subtitle=f"{KIND_TITLES[kind].capitalize()}, {shown}. "
            + self._explanation(kind, special),
            query_axis=query_axis,
            key_axis=key_axis,
            head_titles=view.head_titles,
            mean=layer != "all" and head == "all",
            numbers=numbers,
        )

    def _default_layer(self, kind: str) -> int:
        if kind == "cross" and self.alignment_heads:
            return self.alignment_heads[0][0] + 1
        return len(self.scores[kind])

    def _explanation(self, kind: str, special: bool) -> str:
        source, target = self.source_language, self.target_language
        what = {
            "encoder": f"Each {source} token (row) looks at the whole sentence.",
            "decoder": f"Each {target} token just read looks at itself and at those before it. "
            "Later tokens are masked: their weight is 0.",
            "cross": f"After each {target} token, the decoder looks at the {source} sentence.",
        }[kind]
        total = "1." if special else "less than 1: start and end are hidden."
        return f"{what} Each row adds up to {total}"


def _index(name: str, number: int | str, count: int) -> int:
    if isinstance(number, str) or not 1 <= number <= count:
        raise ConfigError(f"{name} must be from 1 to {count}, not {number}")
    return number - 1
