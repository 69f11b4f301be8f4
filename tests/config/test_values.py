from pathlib import Path

import pytest

from transformer_tf.config import Config, load_config, load_saved_config
from transformer_tf.errors import ConfigError

CHECKPOINTS = sorted((Path(__file__).parents[2] / "checkpoints").iterdir())


def write(folder, text):
    path = folder / "c.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("decoding.beam_size", "4", 4),
        ("decoding.length_penalty", "1", 1.0),
        ("training.learning_rate_scale", "1e-1", 0.1),
        ("decoding.scores", "true", True),
        ("decoding.alignment_layer", "null", None),
        ("decoding.alignment_heads", "[1, 3]", (1, 3)),
        ("decoding.alignment_query", "input", "input"),
        ("data.directory", "somewhere", Path("somewhere")),
        ("data.max_pairs", "3", 3),
        ("training.warmup_steps", "0.25", 0.25),
        ("data.files", "[[a.tsv], [b.en, b.de]]", (("a.tsv",), ("b.en", "b.de"))),
    ],
)
def test_values_of_a_file_and_of_an_override_are_read_alike(key, text, value, tmp_path):
    section, name = key.split(".")
    path = write(tmp_path, f"{section}:\n  {name}: {text}\n")
    for config in (load_config(path), load_config(None, [f"{key}={text}"])):
        read = getattr(getattr(config, section), name)
        assert (read, type(read)) == (value, type(value))


def test_an_override_of_a_text_is_taken_as_it_is():
    assert load_config(None, ["data.source_language=no"]).data.source_language == "no"
    assert load_config(None, ["data.max_pairs=010"]).data.max_pairs == 10


def test_a_whole_number_becomes_a_float(tmp_path):
    config = load_config(write(tmp_path, "model:\n  dropout_rate: 0\n"))
    assert repr(config.model.dropout_rate) == "0.0"


@pytest.mark.parametrize("checkpoint", CHECKPOINTS, ids=lambda path: path.name)
def test_the_configurations_of_the_checkpoints_are_read(checkpoint):
    config = load_saved_config(checkpoint / "config.yaml")
    assert f"{config.data.source_language}-{config.data.target_language}" == checkpoint.name
    assert config != Config()


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("decoding.beam_size", "many", "int, not 'many'"),
        ("decoding.beam_size", "1.5", "int, not 1.5"),
        ("decoding.beam_size", "true", "int, not True"),
        ("decoding.scores", "1", "bool, not 1"),
        ("decoding.length_penalty", "[1]", r"float, not \[1\]"),
        ("decoding.alignment_query", "neither", "one of 'output', 'input', not 'neither'"),
        ("tokenizer.vocab_size", "best", "int or 'auto', not 'best'"),
        ("data.directory", "3", "a path or null, not 3"),
        ("training.samples", "[1]", r"a list of text or null, not \[1\]; .* quote them"),
    ],
)
def test_values_of_another_type(key, value, expected, tmp_path):
    section, name = key.split(".")
    path = write(tmp_path, f"{section}:\n  {name}: {value}\n")
    with pytest.raises(ConfigError, match=f"^{key} must be {expected}"):
        load_config(path)
