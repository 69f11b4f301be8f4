"""Views of attention scores that need no model."""

import dataclasses

import numpy as np
import pytest
from matplotlib.text import Text

from transformer_tf.attention_maps.attention_scores import Attention
from transformer_tf.errors import ConfigError

LAYERS, HEADS = 3, 2
SOURCE = ["<start>", "▁Gar", "dens", "▁grow", ".", "<end>"]
READ = ["<start>", "▁Gär", "ten", "▁wachsen", "."]
SAID = ["▁Gär", "ten", "▁wachsen", ".", "<end>"]


@pytest.fixture
def attention(random):
    def scores(queries, keys):
        return random.dirichlet(np.ones(len(keys)), size=(LAYERS, HEADS, len(queries)))

    return Attention(
        "Gardens grow.",
        "Gärten wachsen.",
        SOURCE,
        READ,
        SAID,
        {
            "encoder": scores(SOURCE, SOURCE),
            "decoder": scores(SAID, READ),
            "cross": scores(SAID, SOURCE),
        },
        source_language="English",
        target_language="German",
    )


def test_the_last_layer_of_cross_attention_by_default(attention):
    view = attention.view()
    np.testing.assert_array_equal(view.scores, attention.scores["cross"][-1])
    rows = ["<start> ▸ Gär", "Gär ▸ ten", "ten ▸ wachsen", "wachsen ▸ .", ". ▸ <end>"]
    assert view.queries == rows
    assert view.keys == ["<start>", "Gar", "dens", "grow", ".", "<end>"]
    assert view.head_titles == ["Head 1", "Head 2"]


def test_the_layer_that_aligns_by_default(attention):
    aligning = dataclasses.replace(attention, alignment_heads=[(0, 1)], alignment_query="input")
    np.testing.assert_array_equal(aligning.view().scores, attention.scores["cross"][0])
    np.testing.assert_array_equal(aligning.view("encoder").scores, attention.scores["encoder"][-1])
    # In that layer a row of several tokens is the word that is read.
    assert aligning.view(words=True).queries[1] == "Gärten ▸ wachsen."
    assert aligning.view(layer=2, words=True).queries[0] == "<start> ▸ Gärten"


def test_one_head_and_their_mean(attention):
    scores = attention.scores["decoder"]
    view = attention.view("decoder", layer=2, head=2)
    np.testing.assert_array_equal(view.scores, scores[1, 1:2])
    assert view.head_titles == ["Head 2"]
    view = attention.view("decoder", layer=1, head="mean")
    np.testing.assert_allclose(view.scores, scores[0].mean(axis=0)[None])
    assert view.head_titles == ["Mean of 2 heads"]


def test_words_without_start_and_end(attention):
    view = attention.view("cross", layer=1, head=1, words=True, special=False)
    assert view.queries == ["<start> ▸ Gärten", "Gärten ▸ wachsen."]
    assert view.keys == ["Gardens", "grow."]
    scores = attention.scores["cross"][0, 0]
    expected = [
        [scores[rows, 1:3].sum(-1).mean(), scores[rows, 3:5].sum(-1).mean()]
        for rows in (slice(0, 2), slice(2, 4))
    ]
    np.testing.assert_allclose(view.scores[0], expected)


def test_a_word_that_looks_like_a_token_stays():
    tokens = ["<start>", "▁<", "end", ">", "<end>"]
    scores = {"encoder": np.full((1, 1, 5, 5), 0.2)}
    view = Attention("<end>", "", tokens, [], [], scores).view("encoder", words=True, special=False)
    assert view.queries == view.keys == ["<end>"]
    np.testing.assert_allclose(view.scores, 0.6)


def test_only_start_and_end_are_hidden(attention):
    view = attention.view("decoder", special=False)
    assert [label.split(" ▸ ")[1] for label in view.queries] == ["Gär", "ten", "wachsen", "."]
    assert view.keys == ["Gär", "ten", "wachsen", "."]  # read by the decoder
    np.testing.assert_array_equal(view.scores, attention.scores["decoder"][-1][:, :-1, 1:])


@pytest.mark.parametrize(
    ("arguments", "named"),
    [({"kind": "source"}, "kind"), ({"layer": 0}, "layer"), ({"head": 3}, "head")],
)
def test_kinds_layers_and_heads_out_of_range(attention, arguments, named):
    with pytest.raises(ConfigError, match=named):
        attention.view(**arguments)


@pytest.mark.parametrize("layer", [2, "all"])
def test_a_figure_names_what_it_shows(attention, layer):
    texts = [text.get_text() for text in attention.plot("cross", layer=layer).findobj(Text)]
    assert {"Gardens grow.\n→ Gärten wachsen.", "Head 1", "Head 2"} <= set(texts)
    shown = "all layers" if layer == "all" else "layer 2 of 3"
    assert any(text.startswith("Cross-attention") and shown in text for text in texts)
    assert {"German: read ▸ chosen", "English: looked at"} <= set(texts)
    assert ("Mean of 2 heads" in texts) == (layer == 2)


def test_a_figure_says_that_hidden_tokens_are_missing_from_its_rows(attention):
    for special, said in ((True, "adds up to 1."), (False, "adds up to less than 1")):
        texts = attention.plot(special=special).findobj(Text)
        assert any(said in text.get_text() for text in texts)


def test_a_map_of_the_decoder_says_that_later_tokens_are_masked(attention):
    for kind, count in (("decoder", 1), ("cross", 0), ("encoder", 0)):
        texts = [text.get_text() for text in attention.plot(kind).findobj(Text)]
        assert sum("Later tokens are masked: their weight is 0." in text for text in texts) == count


def test_representation_in_one_line(attention):
    shown = repr(attention)
    assert "'Gardens grow.' → 'Gärten wachsen.'" in shown and "cross 3 × 2" in shown


def test_nothing_left_to_draw(attention):
    empty = Attention(
        "", "", ["<start>", "<end>"], ["<start>"], ["<end>"], {"cross": np.full((1, 1, 1, 2), 0.5)}
    )
    with pytest.raises(ConfigError, match="nothing left to draw"):
        empty.plot(special=False)
    assert empty.plot().axes
