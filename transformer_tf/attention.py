"""What a translation looked at: the scores of every layer and head, and views of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from transformer_tf.errors import ConfigError
from transformer_tf.text.words import (
    group_words,
    is_special,
    merge_words,
    write_token,
    write_word,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from transformer_tf.attention_maps import PageSentence

ATTENTION_KINDS = ("encoder", "decoder", "cross")
Kind = Literal["encoder", "decoder", "cross"]
KIND_TITLES = {
    "encoder": "encoder self-attention",
    "decoder": "decoder self-attention",
    "cross": "cross-attention",
}


@dataclasses.dataclass(frozen=True)
class AttentionView:
    """Some of the scores, with the labels that belong to them: what `plot_attention` takes.

    Attributes:
        scores: Array `(num_heads, query_len, key_len)`, or with `num_layers` before that.
        queries: The labels of the queries.
        keys: The labels of the keys.
        head_titles: A title for each of the heads.
    """

    scores: np.ndarray
    queries: list[str]
    keys: list[str]
    head_titles: list[str]


@dataclasses.dataclass(frozen=True)
class Attention:
    """A translation and where the model looked while making it.

    Attributes:
        source: The sentence.
        translation: Its translation.
        source_tokens: The tokens the encoder read, `<start>` and `<end>` included, with `▁` where
            a word begins.
        target_input_tokens: The tokens the decoder read, from `<start>` on.
        target_output_tokens: The tokens the decoder said, and `<end>`, which it did not come to
            where `decoding.max_length` cut the translation.
        scores: For each kind (`encoder`, `decoder`, `cross`) an array
            `(num_layers, num_heads, query_len, key_len)`.
    """

    source: str
    translation: str
    source_tokens: list[str]
    target_input_tokens: list[str]
    target_output_tokens: list[str]
    scores: dict[str, np.ndarray]

    @property
    def title(self) -> str:
        """The sentence and its translation, over a picture."""
        return f"{self.source}\n→ {self.translation}"

    def tokens(self, kind: str) -> tuple[list[str], list[str]]:
        """The tokens that ask and those that are looked at, in a kind of attention.

        A query of the decoder is called by the token it produced, a key by the token that was read
        there.
        """
        return {
            "encoder": (self.source_tokens, self.source_tokens),
            "decoder": (self.target_output_tokens, self.target_input_tokens),
            "cross": (self.target_output_tokens, self.source_tokens),
        }[kind]

    def view(
        self,
        kind: Kind = "cross",
        layer: int | Literal["all"] | None = None,
        head: int | Literal["all", "mean"] = "all",
        words: bool = False,
        special: bool = True,
    ) -> AttentionView:
        """Chooses what to look at.

        Args:
            kind: `encoder` or `decoder` self-attention, or `cross`-attention.
            layer: A layer, from 1; None for the last; `all` for every layer.
            head: A head, from 1; `all` of them, or their `mean`.
            words: Whether sub-words are merged to words: summed over the keys, averaged over the
                queries.
            special: Whether the start and end tokens are shown. Without them the weights of a
                query add up to less than 1.

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
            scores, titles = scores.mean(axis=-3, keepdims=True), ["Mean of the heads"]
        elif head != "all":
            index = _index("head", head, num_heads)
            scores, titles = scores[..., index : index + 1, :, :], [titles[index]]
        tokens = self.tokens(kind)
        groups = [
            group_words(of_side) if words else [[i] for i in range(len(of_side))]
            for of_side in tokens
        ]
        if not special:
            groups = [
                [group for group in of_side if not is_special(names[group[0]])]
                for of_side, names in zip(groups, tokens, strict=True)
            ]
        write = write_word if words else _write_token
        queries, keys = (
            [write([names[i] for i in group]) for group in of_side]
            for of_side, names in zip(groups, tokens, strict=True)
        )
        if queries and keys:
            scores = merge_words(scores, *groups)
        else:
            scores = np.zeros((*scores.shape[:-2], len(queries), len(keys)))
        return AttentionView(scores, queries, keys, titles)

    def plot(
        self,
        kind: Kind = "cross",
        layer: int | Literal["all"] | None = None,
        head: int | Literal["all", "mean"] = "all",
        words: bool = False,
        special: bool = True,
        numbers: bool = False,
    ) -> Figure:
        """Draws heat maps; a notebook shows the figure, `save_figure` writes it to a file.

        Args:
            kind: As in `view`, like the next four.
            layer: See there.
            head: See there.
            words: See there.
            special: See there.
            numbers: Whether to write the weights into the cells.

        Raises:
            ConfigError: As `view`.
            TransformerTFError: If there is nothing to draw, since the translation is empty.
        """
        from transformer_tf.attention_maps import plot_attention

        view = self.view(kind, layer, head, words, special)
        if not view.queries or not view.keys:
            raise ConfigError("without start and end tokens there is nothing left to draw")
        shown = "every layer" if layer == "all" else f"layer {layer or len(self.scores[kind])}"
        return plot_attention(
            view.scores,
            view.queries,
            view.keys,
            title=f"{self.title}\n{KIND_TITLES[kind]}, {shown}",
            head_titles=view.head_titles,
            numbers=numbers,
        )

    def page(self) -> PageSentence:
        """Everything, as `save_page` takes it for a page to explore."""
        from transformer_tf.attention_maps import PageMap, PageSentence

        maps = {
            kind: PageMap(KIND_TITLES[kind].capitalize(), scores, *self.tokens(kind))
            for kind, scores in self.scores.items()
        }
        return PageSentence(self.source, self.translation, maps)


def _write_token(tokens: Sequence[str]) -> str:
    return write_token(tokens[0])


def _index(name: str, number: int, count: int) -> int:
    if not 1 <= number <= count:
        raise ConfigError(f"{name} must be from 1 to {count}, not {number}")
    return number - 1
