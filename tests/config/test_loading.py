import dataclasses
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from transformer_tf.config import (
    Config,
    DecodingConfig,
    MixConfig,
    ModelConfig,
    load_config,
    load_run_config,
    load_saved_config,
    save_config,
)
from transformer_tf.errors import ConfigError

ROOT = Path(__file__).parents[2]
CONFIGS = sorted((ROOT / "configs").glob("*.yaml"))
CHECKPOINTS = sorted((ROOT / "checkpoints").iterdir())


def write(folder, text):
    path = folder / "c.yaml"
    path.write_text(text)
    return path


def test_defaults_are_the_articles_sizes():
    model = load_config().model
    assert (model.num_layers, model.d_model, model.num_heads, model.d_ff) == (4, 128, 8, 512)
    assert load_config() == Config()


def test_overrides_win_over_the_file(tmp_path):
    path = write(tmp_path, "model:\n  d_model: 64\n  d_ff: 99\ndata:\n  directory: some/where\n")
    config = load_config(path, ["model.d_model=32", "training.label_smoothing=1e-1"])
    assert (config.model.d_model, config.model.d_ff) == (32, 99)
    assert config.training.label_smoothing == 0.1
    assert config.data.directory == Path("some/where")


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("decoding.beam_size", "4", 4),
        ("decoding.length_penalty", "1", 1.0),
        ("training.learning_rate_scale", "1e-1", 0.1),
        ("training.learning_rate_scale", "1.5e+1", 15.0),
        ("decoding.split_sentences", "true", True),
        ("training.clip_norm", "null", None),
        ("model.tie_embeddings", "none", "none"),
        ("data.source_language", "'no'", "no"),
        ("data.directory", "somewhere", Path("somewhere")),
        ("data.max_pairs", "0x10", 16),
        ("training.max_minutes", "1:30", 90.0),
        ("training.samples", "[Hello., 'No']", ("Hello.", "No")),
        ("training.warmup_steps", "2000", 2000),
        ("training.warmup_steps", "0.25", 0.25),
        ("training.cooldown_steps", "0", 0),
        ("tokenizer.vocab_size", "auto", "auto"),
        ("tokenizer.vocab_size", "500", 500),
        ("data.files", "[[a.tsv], [b.en, b.de]]", (("a.tsv",), ("b.en", "b.de"))),
    ],
)
def test_values_of_a_file_and_of_an_override_are_read_alike(key, text, value, tmp_path):
    section, name = key.split(".")
    path = write(tmp_path, f"{section}:\n  {name}: {text}\n")
    if section == "data" and text.startswith("'"):
        text = text.strip("'")  # an override of a text is taken as it is
    for config in (load_config(path), load_config(None, [f"{key}={text}"])):
        read = getattr(getattr(config, section), name)
        assert (read, type(read)) == (value, type(value))
        save_config(config, tmp_path / "saved.yaml")
        assert load_config(tmp_path / "saved.yaml") == config


def test_an_empty_override_is_null():
    config = load_config(None, ["data.directory=", "data.max_pairs="])
    assert config.data.directory is config.data.max_pairs is None


def test_files_imply_the_corpus():
    assert load_config(None, ["data.files=[[a.tsv]]"]).data.corpus == "files"


def test_an_empty_file_and_an_empty_section_are_the_defaults(tmp_path):
    assert load_config(write(tmp_path, "# nothing\ntraining:\n")) == Config()


# Each override and what its error names: the key, and the place in a list.
REFUSED = [
    (["model.d_modle=3"], "'model.d_modle'; did you mean 'model.d_model'"),
    (["d_model=3"], "did you mean 'model.d_model'"),
    (["data.d_model=3"], "did you mean 'model.d_model'"),
    (["model.d_model"], "section.key=value"),
    (["model.d_model=abc"], 'model.d_model must be a whole number, at least 1, not "abc"'),
    (["model.d_model=20"], "model.d_model must be a multiple of model.num_heads"),
    (["model.num_decoder_layers=0"], "model.num_decoder_layers"),
    (["model.dropout_rate=1"], "model.dropout_rate must be a number, at least 0 and less than 1"),
    (["model.tie_embeddings=both"], 'model.tie_embeddings must be "none" or "target" or "all"'),
    (["model.tie_embeddings=all"], "tokenizer.shared=true"),
    (["model.pre_norm=1"], "model.pre_norm must be true or false, not 1"),
    (["training.max_epochs=2.5"], "training.max_epochs"),
    (["training.max_epochs=true"], "training.max_epochs"),
    (["training.max_epochs=0"], "training.max_epochs"),
    (["model.position=learned", "data.max_length=50"], "decoding.max_length"),
    (["training.tokens_per_batch=50"], "training.tokens_per_batch"),
    (["training.seed=-1"], "training.seed"),
    (["training.seed=5000000000"], "training.seed"),
    (["training.learning_rate_scale=.inf"], "training.learning_rate_scale must be a finite number"),
    (["training.learning_rate_scale=.nan"], "training.learning_rate_scale"),
    (["training.clip_norm=0"], "training.clip_norm must be a number, more than 0 or null, not 0"),
    (["training.warmup_steps=0"], "training.warmup_steps"),
    (["training.warmup_steps=1.5"], "training.warmup_steps"),
    (["training.cooldown_steps=-1"], "training.cooldown_steps"),
    (["training.cooldown_steps=0.6"], "training.cooldown_steps"),
    (["training.samples=text"], "training.samples must be a list"),
    (["training.samples=[Hello., No]"], "training.samples must be .*[1]"),
    (["training.samples=[a"], "training.samples"),
    (["training.start_from=nowhere"], "training.start_from"),
    (["tokenizer.vocab_size=best"], "tokenizer.vocab_size"),
    (["tokenizer.vocab_size=auto", "tokenizer.kind=bpemb"], "tokenizer.vocab_size"),
    (["tokenizer.shared=true", "tokenizer.kind=bpemb"], "tokenizer.shared"),
    (["data.slots=true", "tokenizer.kind=bpemb"], "data.slots"),
    (["data.source_language="], "data.source_language must be text, not null: quote it"),
    (["data.corpus=files"], "data.files"),
    (["data.files=[[a.tsv]]", "data.corpus=tatoeba"], "data.files"),
    (["data.files=[[a,b,c]]"], "data.files"),
    (["data.files=[a.tsv]"], "data.files"),
    (["data.files=a.tsv"], "data.files must be a list"),
    (["data.files=[[a],[b,1]]"], "data.files must be .*[1][1]"),
    (["data.swap=true"], "data.swap"),
    (["data.mix=[a.tsv]"], "data.mix must be a list"),
    (["data.mix=[{file: [a.tsv]}]"], "'file' in data.mix"),
    (["data.mix=[{files: [a],files: [b]}]"], "'files' is a duplicate key"),
    (["data.mix=[{weight: 2}]"], "data.mix must be .*files"),
    (["data.mix=[{files: [a],weight: x}]"], "data.mix must be .*[0].weight"),
    (["data.mix=[{files: [a],weight: 0}]"], "data.mix must be .*[0].weight"),
    (["data.mix=[{files: [a],weight: .inf}]"], "data.mix must be .*[0].weight"),
    (["data.mix=[{files: [a],tag: no}]"], "data.mix must be .*[0].tag"),
    (["data.mix=[{files: [a],tag: <bt>}]"], "data.mix must be .*[0].tag"),
    (["data.mix=[{files: []}]"], "data.mix must be .*[0].files"),
    (["data.mix=[{files: [a],tag: bt}]", "tokenizer.kind=bpemb"], "data.mix: tag"),
    ([f"data.mix=[{','.join(f'{{files: [a],tag: t{n}}}' for n in range(9))}]"], "data.mix: .* 8"),
    (["decoding.beam_size=["], "decoding.beam_size"),
    (["decoding.alignment={heads: [1]}"], "decoding.alignment must be .*layer"),
    (["decoding.alignment={layer: 1, heads: [1], head: 1}"], "'head' in decoding.alignment"),
    (["decoding.alignment={layer: 5, heads: [1]}"], "decoding.alignment.layer"),
    (["decoding.alignment={layer: 1, heads: [9]}"], "decoding.alignment.heads"),
    (
        ["decoding.alignment={layer: 3, heads: [1]}", "model.num_decoder_layers=2"],
        "decoding.alignment.layer",
    ),
]


@pytest.mark.parametrize(("overrides", "named"), REFUSED)
def test_errors_name_the_key_in_one_line(overrides, named):
    pattern = re.escape(named).replace(r"\.\*", ".*")
    with pytest.raises(ConfigError, match=pattern) as error:
        load_config(None, overrides)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"model:\n  layers: 3\n", "'model.layers'"),
        (b"d_model: 3\n", "'d_model'"),
        (b"model: [1, 2\n", "c.yaml is not valid YAML"),
        (b"model: [1, 2]\n", "'model'"),
        (b"- a\n- b\n", "c.yaml"),
        (b"model:\n  d_model: gr\xfcn\n", "c.yaml is not valid YAML"),
        (b"training: {max_epochs: 3}\ntraining: {seed: 1}\n", "'training' is a duplicate key"),
        (b"training:\n  seed: 1\n  seed: 2\n", "'seed' is a duplicate key.*line 3"),
        (b"? [a]\n: 1\n", "unhashable key"),
        (b"data:\n  max_pairs: 2020-01-01\n", "data.max_pairs"),
        (b"data: {target_language: no}", "data.target_language must be text, not false: quote it"),
        (b"data: {directory: 2024}", "data.directory"),
        (b"data: {mix: {files: [a]}}", "data.mix"),
        (None, "c.yaml: No such file"),
    ],
)
def test_errors_of_files_are_one_line(tmp_path, content, named):
    if content is not None:
        (tmp_path / "c.yaml").write_bytes(content)
    with pytest.raises(ConfigError, match=named) as error:
        load_config(tmp_path / "c.yaml")
    assert "\n" not in str(error.value)


def test_a_configuration_in_code_is_checked():
    with pytest.raises(ConfigError, match="model.d_ff"):
        dataclasses.replace(ModelConfig(), d_ff=0)
    with pytest.raises(ConfigError, match="data.mix.weight"):
        MixConfig(files=("a",), weight=-1)


def test_changed_options_are_checked():
    options = DecodingConfig()
    for changes in ({"beam_size": "4"}, {"beam_size": 0}, {"beam_size": None}):
        with pytest.raises(ConfigError, match="decoding.beam_size must be"):
            dataclasses.replace(options, **changes)


def test_round_trip(tmp_path):
    """Text that looks like something else, and whatever can be typed."""
    strange = (
        "I love it 😀",
        "\U0010ffff𝒳",
        "a\tb\x7f\x85\u2028",
        r"\ud83d\ude00",
        "",
        "1e5",
        "no",
    )
    mix = (MixConfig(("a.tsv",), weight=0.5, tag="1e5"), MixConfig(("b.en", "b.de"), swap=True))
    config = load_config(None, ["data.max_pairs=7", "data.directory=1e5"])
    config = dataclasses.replace(
        config,
        data=dataclasses.replace(config.data, mix=mix),
        training=dataclasses.replace(config.training, samples=strange),
    )
    save_config(config, tmp_path / "c.yaml")
    assert load_config(tmp_path / "c.yaml") == config


def test_a_configuration_is_written_atomically(tmp_path, monkeypatch):
    path = tmp_path / "config.yaml"
    save_config(Config(), path)
    before = path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        save_config(load_config(None, ["model.d_ff=16"]), path)
    assert caught.value.filename == str(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_every_config_of_the_project_loads(path):
    assert load_config(path) != Config()


@pytest.mark.parametrize("checkpoint", CHECKPOINTS, ids=lambda path: path.name)
def test_the_configurations_of_the_checkpoints_are_read(checkpoint):
    config = load_saved_config(checkpoint / "config.yaml")
    assert f"{config.data.source_language}-{config.data.target_language}" == checkpoint.name


def test_a_configuration_is_read_without_keras():
    code = "import sys, transformer_tf.config; print({'keras', 'numpy'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == "set()\n"


def test_scores_of_a_run_stay_comparable(tmp_path):
    override = "decoding.beam_size=5"
    for metric in ("bleu", "perplexity"):
        config = load_config(None, [f"training.best_metric={metric}"])
        save_config(config, tmp_path / "config.yaml")
        assert load_run_config(tmp_path, ["decoding.beam_size=1"]) == config
        if metric == "perplexity":
            load_run_config(tmp_path, [override])
        else:
            with pytest.raises(ConfigError, match="training.best_metric"):
                load_run_config(tmp_path, [override])


def test_a_run_with_a_damaged_configuration(tmp_path):
    (tmp_path / "config.yaml").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="config.yaml"):
        load_run_config(tmp_path)
