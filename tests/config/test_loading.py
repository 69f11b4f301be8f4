import dataclasses
import re
from pathlib import Path

import pytest

from transformer_tf.config import (
    Config,
    DataConfig,
    MixConfig,
    ModelConfig,
    load_config,
    load_saved_config,
    save_config,
)
from transformer_tf.errors import ConfigError

FILES = (Path(__file__).parents[2] / "checkpoints").rglob("config.yaml")
CHECKPOINTS = sorted(path.parent for path in FILES)


def write(folder, text):
    path = folder / "c.yaml"
    path.write_text(text)
    return path


def test_overrides_win_over_the_file(tmp_path):
    path = write(tmp_path, "model:\n  d_model: 64\n  d_ff: 99\ndata:\n  corpus: somewhere\n")
    config = load_config(path, ["model.d_model=32", "training.label_smoothing=1e-1"])
    assert (config.model.d_model, config.model.d_ff) == (32, 99)
    assert config.training.label_smoothing == 0.1
    assert config.data.corpus == "somewhere"


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("decoding.length_penalty", "1", 1.0),
        ("training.learning_rate_scale", "1e-1", 0.1),
        ("decoding.split_sentences", "true", True),
        ("training.clip_norm", "null", None),
        ("model.tie_embeddings", "none", "none"),
        ("data.source_language", "'no'", "no"),
        ("data.max_length", "0x10", 16),
        ("training.max_minutes", "1:30", 90.0),
        ("training.samples", "[Hello., 'No']", ("Hello.", "No")),
        ("training.warmup_steps", "0.25", 0.25),
        ("tokenizer.vocab_size", "auto", "auto"),
        ("data.files", "[a.tsv, [b.en, b.de]]", (("a.tsv",), ("b.en", "b.de"))),
        ("data.files", "a.tsv", (("a.tsv",),)),
        ("data.mix", "a.tsv", (MixConfig(("a.tsv",)),)),
        ("data.columns", "[2, german]", (2, "german")),
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
    config = load_config(None, ["training.clip_norm=", "training.max_steps="])
    assert config.training.clip_norm is config.training.max_steps is None


@pytest.mark.parametrize("spelling", ["de", "DE", "deu", "German"])
def test_a_language_is_named_by_its_code(spelling):
    data = load_config(None, [f"data.source_language={spelling}"]).data
    assert (data.source_language, data.target_language) == ("de", "de")
    kept = DataConfig(source_language="zh_classical", target_language="pt-BR")
    assert (kept.source_language, kept.target_language) == ("zh_classical", "pt-BR")


def test_files_imply_the_corpus():
    assert load_config(None, ["data.files=[[a.tsv]]"]).data.corpus == "files"


def test_an_empty_file_and_an_empty_section_are_the_defaults(tmp_path):
    assert load_config(write(tmp_path, "# nothing\ntraining:\n")) == load_config() == Config()


# Each override and what its error names: the key, and the place in a list.
REFUSED = [
    (["model.d_modle=3"], "'model.d_modle'; did you mean 'model.d_model'"),
    (["d_model=3"], "did you mean 'model.d_model'"),
    (["model.d_model"], "section.key=value"),
    (["model.d_model=abc"], "model.d_model"),
    (["model.d_model=20"], "model.d_model"),
    (["model.num_decoder_layers=0"], "model.num_decoder_layers"),
    (["model.tie_embeddings=both"], "model.tie_embeddings"),
    (["model.tie_embeddings=all"], "tokenizer.shared=true"),
    (["training.max_epochs=2.5"], "training.max_epochs"),
    (["model.position=learned", "data.max_length=98"], "data.max_length + 1"),
    (["training.tokens_per_batch=50"], "training.tokens_per_batch"),
    (["training.seed=-1"], "training.seed"),
    (["training.learning_rate_scale=.inf"], "training.learning_rate_scale"),
    (["training.clip_norm=0"], "training.clip_norm"),
    (["training.warmup_steps=1.5"], "training.warmup_steps"),
    (["training.cooldown_steps=0.6"], "training.cooldown_steps"),
    (["training.samples=[Hello., No]"], "training.samples must be .*[1]"),
    (["training.samples=[a"], "training.samples"),
    (["training.start_from=nowhere"], "training.start_from"),
    (["tokenizer.vocab_size=best"], "tokenizer.vocab_size"),
    (["tokenizer.vocab_size=auto", "tokenizer.kind=bpemb"], "tokenizer.vocab_size"),
    (["tokenizer.shared=true", "tokenizer.kind=bpemb"], "tokenizer.shared"),
    (["data.placeholders=true", "tokenizer.kind=bpemb"], "data.placeholders"),
    (["data.source_language="], "data.source_language"),
    (["data.corpus=files"], "data.files"),
    (["data.files=[[a.tsv]]", "data.corpus=tatoeba"], "data.files"),
    (["data.files=[[a,b,c]]"], "data.files"),
    (["data.files=5"], "data.files must be a list"),
    (["data.files=[[a],[b,1]]"], "data.files must be .*[1][1]"),
    (["data.swap=true"], "data.swap"),
    (["data.mix=[5]"], "data.mix must be a list"),
    (["data.mix=[{file: [a.tsv]}]"], "'file' in data.mix"),
    (["data.mix=[{files: [a],files: [b]}]"], "'files' is a duplicate key"),
    (["data.mix=[{files: [a],weight: 0}]"], "data.mix must be .*[0].weight"),
    (["data.mix=[{files: [a],tag: <bt>}]"], "data.mix must be .*[0].tag"),
    (["data.mix=[{files: [a],swap: true,columns: [1, 2]}]"], "leave out swap"),
    (["data.mix=[{files: [a],tag: bt}]", "tokenizer.kind=bpemb"], "data.mix: tag"),
    ([f"data.mix=[{','.join(f'{{files: [a],tag: t{n}}}' for n in range(9))}]"], "data.mix: .* 8"),
    (["decoding.alignment={heads: [1]}"], "decoding.alignment must be .*layer"),
    (["decoding.alignment={layer: 5, heads: [1]}"], "decoding.alignment.layer"),
    (["decoding.alignment={layer: 1, heads: [9]}"], "decoding.alignment.heads"),
    (["decoding.alignment={layer: 1, heads: []}"], "decoding.alignment.*heads"),
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
        (b"model: [1, 2\n", "c.yaml is not valid YAML"),
        (b"model: [1, 2]\n", "'model'"),
        (b"- a\n- b\n", "c.yaml"),
        (b"model:\n  d_model: gr\xfcn\n", "c.yaml is not valid YAML"),
        (b"training: {max_epochs: 3}\ntraining: {seed: 1}\n", "'training' is a duplicate key"),
        (b"? [a]\n: 1\n", "unhashable key"),
        (b"data:\n  max_length: 2020-01-01\n", "data.max_length"),
        (b"data: {target_language: no}", "data.target_language .*quote it"),
        (b"training: {start_from: 2024}", "training.start_from"),
        (b"data: {mix: {files: [a]}}", "data.mix"),
        (None, "no configuration .*c.yaml"),
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
    config = load_config(None, ["training.max_steps=7", "data.corpus=1e5"])
    config = dataclasses.replace(
        config,
        data=dataclasses.replace(config.data, mix=mix),
        training=dataclasses.replace(config.training, samples=strange),
    )
    save_config(config, tmp_path / "c.yaml")
    assert load_config(tmp_path / "c.yaml") == config


@pytest.mark.parametrize("checkpoint", CHECKPOINTS, ids=lambda path: path.name)
def test_the_configurations_of_the_checkpoints_are_read(checkpoint):
    config = load_saved_config(checkpoint / "config.yaml")
    pair = f"{config.data.source_language}-{config.data.target_language}"
    assert checkpoint.name.startswith(pair)
