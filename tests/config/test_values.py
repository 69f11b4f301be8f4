from pathlib import Path

import pytest

from transformer_tf.config import Config, load_config, load_saved_config, loading
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
        ("data.max_pairs", "0x10", 16),
        ("training.max_minutes", "1:30", 90.0),
        ("training.samples", "null", None),
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
        ("decoding.beam_size", "many", "a whole number, not 'many'"),
        ("decoding.beam_size", "1.5", "a whole number, not 1.5"),
        ("decoding.beam_size", "true", "a whole number, not True"),
        ("decoding.scores", "1", "true or false, not 1"),
        ("decoding.length_penalty", "[1]", r"a number, not \[1\]"),
        ("training.clip_norm", "x", "a number or null, not 'x'"),
        ("training.learning_rate_scale", "1" + 400 * "0", "a number, not 1000"),
        ("decoding.alignment_query", "neither", "one of 'output', 'input', not 'neither'"),
        ("tokenizer.vocab_size", "best", "a whole number or 'auto', not 'best'"),
        ("training.samples", "text", "a list or null, not 'text'"),
    ],
)
def test_values_of_another_type(key, value, expected, tmp_path):
    section, name = key.split(".")
    path = write(tmp_path, f"{section}:\n  {name}: {value}\n")
    for arguments in ((path, []), (None, [f"{key}={value}"])):
        with pytest.raises(ConfigError, match=f"^{key} must be {expected}"):
            load_config(*arguments)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("data: {target_language: no}", "^data.target_language must be text, not False: quote it$"),
        ("data: {source_language: null}", "data.source_language must be text, not null: quote it"),
        ("data: {source_language: [en]}", r"must be text, not \['en'\]$"),
        ("data: {directory: 2024}", "data.directory must be a path or null, not 2024"),
        (
            "training: {samples: [Yes., yes]}",
            r"^training.samples\[1\] must be text, not True: quote it$",
        ),
        ("decoding: {alignment_heads: [1, a]}", r"heads\[1\] must be a whole number, not 'a'"),
        ("data: {files: [[a], [b, 1]]}", r"^data.files\[1\]\[1\] must be text, not 1: quote it; "),
    ],
)
def test_values_that_yaml_does_not_read_as_text(content, message, tmp_path):
    with pytest.raises(ConfigError, match=message):
        load_config(write(tmp_path, content))


def test_an_override_names_the_item_as_well():
    with pytest.raises(ConfigError, match=r"training.samples\[1\] must be text, not False"):
        load_config(None, ["training.samples=[Hello., No, Yes]"])


@pytest.mark.parametrize(
    "override",
    ["data.files=[[a.tsv]", "training.samples=[a", "decoding.beam_size=[", "data.mix=[{files: a]"],
)
def test_an_override_that_is_not_yaml(override):
    key = override.partition("=")[0]
    with pytest.raises(ConfigError, match=f"{key}=.* is not valid YAML: ") as error:
        load_config(None, [override])
    assert "\n" not in str(error.value)


def test_an_override_repeats_no_key():
    with pytest.raises(ConfigError, match="'files' is a duplicate key"):
        load_config(None, ["data.mix=[{files: [a], files: [b]}]"])


def test_an_empty_override_is_null():
    config = load_config(None, ["data.directory=", "data.max_pairs="])
    assert config.data.directory is config.data.max_pairs is None


def test_a_configuration_is_read_quickly(monkeypatch):
    """The types of the keys are looked up once: every start of translate.py reads several."""
    calls = []
    resolve = loading.get_type_hints
    monkeypatch.setattr(loading, "get_type_hints", lambda kind: calls.append(kind) or resolve(kind))
    loading._key_types.cache_clear()
    load_saved_config(CHECKPOINTS[0] / "config.yaml")
    assert len(calls) < 10


def test_a_quoted_word_is_text(tmp_path):
    path = write(tmp_path, "data:\n  target_language: 'no'\n")
    assert load_config(path).data.target_language == "no"
