"""The attention scores of a translation, and views of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from transformer_tf.attention_maps.alignments import Query
from transformer_tf.attention_maps.words import (
    group_words,
    is_special,
    merge_words,
    token_labels,
    write_word,
)
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

        A decoder query is labeled with the token that it produces, a decoder key with the token
        that the decoder reads there.
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
            "encoder": (f"{source} tokens", f"{source} tokens attended to"),
            "decoder": (f"{target} output tokens", f"{target} input tokens attended to"),
            "cross": (f"{target} output tokens", f"{source} tokens attended to"),
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
            layer: Number of a layer, from 1; None for the last layer; `all` for every layer.
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
        if layer != "all":
            scores = scores[_index("layer", num_layers if layer is None else layer, num_layers)]
        titles = [f"Head {number}" for number in range(1, num_heads + 1)]
        if head == "mean":
            scores, titles = scores.mean(axis=-3, keepdims=True), [f"Mean of {num_heads} heads"]
        elif head != "all":
            index = _index("head", head, num_heads)
            scores, titles = scores[..., index : index + 1, :, :], [titles[index]]
        (queries, query_labels), (keys, key_labels) = (
            _labeled_groups(tokens, words, special) for tokens in self.tokens(kind)
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
        num_layers = len(self.scores[kind])
        shown = "all layers" if layer == "all" else f"layer {layer or num_layers} of {num_layers}"
        query_axis, key_axis = self.axes(kind)
        return plot_attention(
            view.scores,
            view.queries,
            view.keys,
            title=self.title,
            subtitle=f"{KIND_TITLES[kind].capitalize()}, {shown}. {self._explanation(kind)}",
            query_axis=query_axis,
            key_axis=key_axis,
            head_titles=view.head_titles,
            numbers=numbers,
        )

    def _explanation(self, kind: str) -> str:
        row = self.source_language if kind == "encoder" else self.target_language
        column = self.target_language if kind == "decoder" else self.source_language
        return f"A row shows how one {row} token spreads its attention over the {column} tokens."


def _labeled_groups(
    tokens: Sequence[str], words: bool, special: bool
) -> tuple[list[list[int]], list[str]]:
    """Returns the positions of the tokens of each row or column, and its label."""
    groups = group_words(tokens) if words else [[i] for i in range(len(tokens))]
    if not special:
        groups = [group for group in groups if not is_special(tokens[group[0]])]
    if words:
        return groups, [write_word([tokens[i] for i in group]) for group in groups]
    labels = token_labels(tokens)
    return groups, [labels[i] for (i,) in groups]


def _index(name: str, number: int | str, count: int) -> int:
    if isinstance(number, str) or not 1 <= number <= count:
        raise ConfigError(f"{name} must be from 1 to {count}, not {number}")
    return number - 1
