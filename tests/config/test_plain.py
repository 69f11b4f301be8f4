"""Configurations without jsonargparse equal those with it."""

from pathlib import Path

import pytest

from transformer_tf.config import loading
from transformer_tf.config.plain import plain_config
from transformer_tf.config.schema import Config
from transformer_tf.errors import ConfigError

CHECKPOINTS = sorted((Path(__file__).parents[2] / "checkpoints").iterdir())


def test_no_values_give_the_defaults():
    assert plain_config({}) == Config()


@pytest.mark.parametrize(
    "overrides",
    [
        ["decoding.beam_size=4", "decoding.length_penalty=1"],
        ["decoding.scores=true", "decoding.alignment_layer=null"],
        ["decoding.alignment_heads=[1, 3]", "decoding.alignment_query=input"],
        ["data.directory=somewhere", "data.max_pairs=3", "training.clip_norm=2"],
        ["data.source_language=no", "data.validation_size=7"],
        ["data.mix=[{files: [a.tsv], weight: 2}, {files: [b.en, b.de], tag: bt, swap: true}]"],
    ],
)
def test_values_are_read_as_by_jsonargparse(overrides, monkeypatch):
    values = dict(override.split("=", 1) for override in overrides)
    plain = plain_config(values)
    monkeypatch.setattr(loading, "plain_config", lambda values: None)
    assert plain == loading.load_config(None, overrides)


def test_typed_values_are_taken_as_they_are():
    values = {"data.directory": None, "training.samples": ["a"], "model.dropout_rate": 0}
    config = plain_config(values)
    assert config.training.samples == ("a",)
    assert config.model.dropout_rate == 0.0
    assert plain_config({"data.directory": "x"}).data.directory == Path("x")


@pytest.mark.parametrize("checkpoint", CHECKPOINTS, ids=lambda path: path.name)
def test_the_checkpoints_start_without_jsonargparse(checkpoint):
    config = plain_config(loading._read_values(checkpoint / "config.yaml"))
    assert f"{config.data.source_language}-{config.data.target_language}" == checkpoint.name


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("decoding.beam_size", "many"),
        ("decoding.beam_size", 1.5),
        ("decoding.beam_size", True),
        ("decoding.scores", 1),
        ("decoding.length_penalty", float("nan")),
        ("decoding.alignment_query", "neither"),
        ("decoding.beam", 1),
        ("search.beam_size", 1),
        ("beam_size", 1),
        ("data.files", [1]),
        ("data.mix", [{"file": ["a.tsv"]}]),
        ("data.mix", [{"weight": 2}]),
    ],
)
def test_other_values_are_left_to_jsonargparse(key, value):
    assert plain_config({key: value}) is None


def test_values_out_of_range_are_an_error():
    with pytest.raises(ConfigError, match="decoding.beam_size must be at least 1, not 0"):
        plain_config({"decoding.beam_size": "0"})
