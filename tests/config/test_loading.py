import dataclasses
import os
from pathlib import Path
from typing import get_type_hints

import pytest

from transformer_tf.config import (
    Config,
    MixConfig,
    load_config,
    load_run_config,
    load_saved_config,
    save_config,
)
from transformer_tf.config.loading import REMOVED
from transformer_tf.errors import ConfigError

CONFIGS = sorted((Path(__file__).parents[2] / "configs").glob("*.yaml"))


def test_defaults_are_the_articles_sizes():
    model = load_config().model
    assert (model.num_layers, model.d_model, model.num_heads, model.d_ff) == (4, 128, 8, 512)
    assert load_config() == Config()


def test_overrides_win_over_the_file(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("model:\n  d_model: 64\n  d_ff: 99\ndata:\n  directory: some/where\n")
    config = load_config(path, ["model.d_model=32", "training.label_smoothing=1e-1"])
    assert (config.model.d_model, config.model.d_ff) == (32, 99)
    assert config.training.label_smoothing == 0.1
    assert config.data.directory == Path("some/where")


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            ["model.d_modle=3"],
            "Unknown configuration key 'model.d_modle'; did you mean 'model.d_model'",
        ),
        (["d_model=3"], "did you mean 'model.d_model'"),
        (["data.d_model=3"], "did you mean 'model.d_model'"),
        (["model.d_model=abc"], "model.d_model must be a whole number, not 'abc'"),
        (["training.max_epochs=2.5"], "training.max_epochs must be a whole number, not 2.5"),
        (
            ["model.tie_embeddings=both"],
            "model.tie_embeddings must be one of 'none', 'target', 'all', not 'both'",
        ),
        (["model.d_model"], "section.key=value, not 'model.d_model'"),
        (["training.max_epochs=0"], "training.max_epochs must be at least 1, not 0"),
        (["model.dropout_rate=1"], "model.dropout_rate must be at least 0 and less than 1"),
        (["model.d_model=20"], "model.d_model must be a multiple of model.num_heads"),
        (["model.tie_embeddings=all"], "needs tokenizer.shared=true"),
        (["tokenizer.kind=bpemb", "tokenizer.shared=true"], "tokenizer.shared"),
        (
            ["model.position=learned", "model.max_length=50"],
            "model.max_length must be at least 102",
        ),
        (["training.tokens_per_batch=50"], "training.tokens_per_batch must hold"),
        (["tokenizer.init_embeddings=true"], "needs tokenizer.kind=bpemb"),
        (
            ["tokenizer.init_embeddings=true", "tokenizer.kind=bpemb"],
            r"model.d_model=25\|50\|100\|200\|300, not bpemb and 128",
        ),
        (["data.corpus=files"], "data.corpus=files needs data.files"),
        (
            ["data.files=[[a.tsv]]", "data.corpus=tatoeba"],
            "data.files needs data.corpus=files, not tatoeba",
        ),
        (["tokenizer.vocab_size=best"], "tokenizer.vocab_size must be "),
        (["tokenizer.vocab_size=0"], "tokenizer.vocab_size must be at least 1, not 0"),
        (
            ["tokenizer.vocab_size=auto", "tokenizer.kind=bpemb"],
            "tokenizer.vocab_size=auto needs tokenizer.kind=trained",
        ),
        (["data.corpus=files", "data.files=[[a,b,c]]"], r"data.files is a list of \[FILE\]"),
        (["data.corpus=files", "data.files=[a.tsv]"], r"data.files is a list of \[FILE\]"),
        (["data.files=a.tsv"], r"data.files is a list of \[FILE\]"),
        (["training.seed=-1"], r"training.seed must be at least 0 and less than 2\*\*32, not -1"),
        (["training.seed=5000000000"], "training.seed must be at least 0"),
        (
            ["training.precision=mixed_float16", "training.accumulation_steps=2"],
            "accumulation_steps needs float32 or mixed_bfloat16",
        ),
        (["decoding.alignment_layer=5"], "decoding.alignment_layer must be from 1 to 4, not 5"),
        (
            ["model.num_decoder_layers=2", "decoding.alignment_layer=3"],
            "decoding.alignment_layer must be from 1 to 2, not 3",
        ),
        (["model.num_decoder_layers=0"], "model.num_decoder_layers must be at least 1, not 0"),
        (["decoding.alignment_heads=[1, 9]"], "alignment_heads must be from 1 to 8, not 9"),
        (["data.max_malformed=1"], "Unknown configuration key 'data.max_malformed'"),
        (["training.ema_decay=1"], "training.ema_decay must be at least 0 and less than 1"),
        (["training.patience=0"], "training.patience must be at least 1, not 0"),
        (["training.clip_norm=0"], "training.clip_norm must be more than 0, not 0.0"),
        (["training.cooldown_steps=-1"], "training.cooldown_steps must be 0, a number of steps, "),
        (["training.cooldown_steps=0.6"], "a share of the run, at most 0.5, not 0.6"),
        (["training.warmup_steps=0"], "training.warmup_steps must be a number of steps, at least"),
        (["training.warmup_steps=1.5"], "training.warmup_steps must be a number of steps, .* 1.5"),
        (["training.warmup_steps=x"], "training.warmup_steps must be a number, not 'x'"),
        (["decoding.top_p=0"], "decoding.top_p must be more than 0 and at most 1, not 0.0"),
        (["decoding.min_length=-1"], "decoding.min_length must be at least 0, not -1"),
    ],
)
def test_errors_name_the_key_in_one_line(overrides, message):
    with pytest.raises(ConfigError, match=message) as error:
        load_config(None, overrides)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"model:\n  layers: 3\n", "Unknown configuration key 'model.layers'"),
        (b"model: [1, 2\n", "is not valid YAML"),
        (b"- a\n- b\n", "must hold sections"),
        (b"model:\n  d_model: gr\xfcn\n", "is not valid YAML"),
        (None, "No such file"),
    ],
)
def test_errors_of_files(tmp_path, content, message):
    path = tmp_path / "bad.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=message) as error:
        load_config(path)
    assert "\n" not in str(error.value)


def test_round_trip(tmp_path):
    config = load_config(None, ["training.samples=['Grüße: 5, \"x\"', b]", "data.max_pairs=7"])
    assert config.training.samples == ('Grüße: 5, "x"', "b")
    strange = ("I love it 😀", "\U0010ffff𝒳", "a\tb\x7f\x85\u2028", r"\ud83d\ude00", "")
    training = dataclasses.replace(config.training, samples=strange)
    config = dataclasses.replace(config, training=training)
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


def test_words_among_numbers(tmp_path):
    """A vocabulary size and samples may be `auto` and null, on the command line and in a file."""
    path = tmp_path / "c.yaml"
    path.write_text("tokenizer:\n  vocab_size: auto\ntraining:\n  samples: null\n")
    overrides = ["tokenizer.vocab_size=auto", "training.samples=null"]
    for config in (load_config(path), load_config(None, overrides)):
        assert config.tokenizer.vocab_size == "auto"
        assert config.training.samples is None
        save_config(config, tmp_path / "saved.yaml")
        assert load_config(tmp_path / "saved.yaml") == config
    numbers = load_config(path, ["tokenizer.vocab_size=500", "training.warmup_steps=2000"])
    assert numbers.tokenizer.vocab_size == 500
    assert repr(numbers.training.warmup_steps) == "2000"
    assert load_config(path, ["training.warmup_steps=0.25"]).training.warmup_steps == 0.25


def test_files_in_a_file(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("data:\n  files: [[a.tsv], [b.en, b.de]]\n  test_files: [[c.tsv]]\n")
    data = load_config(path).data
    assert data.files == (("a.tsv",), ("b.en", "b.de"))
    assert data.test_files == (("c.tsv",),)


def test_files_imply_the_corpus():
    config = load_config(None, ["data.files=[[a.tsv]]"])
    assert (config.data.corpus, config.data.files) == ("files", (("a.tsv",),))


def test_a_list_of_heads_becomes_a_tuple():
    options = dataclasses.replace(Config().decoding, alignment_heads=[2, 1])
    assert hash(options) == hash(dataclasses.replace(Config().decoding, alignment_heads=(2, 1)))


def test_an_empty_file_and_an_empty_section_are_the_defaults(tmp_path):
    (tmp_path / "c.yaml").write_text("# nothing\ntraining:\n")
    assert load_config(tmp_path / "c.yaml") == Config()


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_every_config_of_the_project_loads(path):
    assert load_config(path) != Config()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("training: {max_epochs: 3}\ntraining: {seed: 1}\n", "'training' is a duplicate key"),
        ("training:\n  seed: 1\n  seed: 2\n", "'seed' is a duplicate key.*line 3"),
        ("? [a]\n: 1\n", "unhashable key"),
        (
            "data:\n  max_pairs: 2020-01-01\n",
            "data.max_pairs must be a whole number or null, not 2020",
        ),
        ("training:\n  learning_rate_scale: .nan\n", "must be a finite number, not nan"),
    ],
)
def test_yaml_that_would_be_misread(tmp_path, content, message):
    path = tmp_path / "c.yaml"
    path.write_text(content)
    with pytest.raises(ConfigError, match=message) as error:
        load_config(path)
    assert "\n" not in str(error.value)


FLOATS = [
    f"{section}.{key}"
    for section, values in vars(Config()).items()
    for key, hint in get_type_hints(type(values)).items()
    if hint in (float, float | None)
]


@pytest.mark.parametrize("key", FLOATS)
def test_floats_are_finite(key, tmp_path):
    assert "data.max_length_ratio" in FLOATS and "training.max_minutes" in FLOATS
    section, name = key.split(".")
    path = tmp_path / "c.yaml"
    for value in ("nan", "inf", "-inf"):
        path.write_text(
            f"{section}:\n  {name}: {value.replace('inf', '.inf').replace('nan', '.nan')}\n"
        )
        for arguments in ((None, [f"{key}={value}"]), (path, [])):
            with pytest.raises(ConfigError, match=f"{key} must be a finite number, not {value}"):
                load_config(*arguments)


def test_a_configuration_in_code_is_checked():
    with pytest.raises(ConfigError, match="model.d_ff must be at least 1, not 0"):
        Config(model=dataclasses.replace(Config().model, d_ff=0))
    with pytest.raises(ConfigError, match="decoding.temperature must be a finite number, not inf"):
        dataclasses.replace(Config().decoding, temperature=float("inf"))


def test_removed_keys_of_a_saved_configuration_are_ignored(tmp_path):
    path = tmp_path / "config.yaml"
    save_config(load_config(None, ["model.d_ff=99"]), path)
    saved = path.read_text()
    for key in REMOVED:
        section, name = key.split(".")
        saved = saved.replace(f"{section}:\n", f"{section}:\n  {name}: 1\n")
    path.write_text(saved)
    assert load_saved_config(path).model.d_ff == 99
    assert load_run_config(tmp_path).model.d_ff == 99
    with pytest.raises(ConfigError, match="Unknown configuration key"):
        load_config(path)
    for key in REMOVED:
        with pytest.raises(ConfigError, match=f"Unknown configuration key '{key}'"):
            load_saved_config(path, [f"{key}=1"])


def test_scores_of_a_run_stay_comparable(tmp_path):
    override = "decoding.beam_size=5"
    for metric in ("bleu", "perplexity"):
        config = load_config(None, [f"training.best_metric={metric}"])
        save_config(config, tmp_path / "config.yaml")
        assert load_run_config(tmp_path, ["decoding.beam_size=1"]) == config
        if metric == "perplexity":
            load_run_config(tmp_path, [override])
        else:
            with pytest.raises(ConfigError, match="best_metric=bleu compares translations"):
                load_run_config(tmp_path, [override])


def test_a_run_with_a_damaged_configuration(tmp_path):
    (tmp_path / "config.yaml").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="config.yaml is not valid YAML"):
        load_run_config(tmp_path)


def test_the_mix_of_a_configuration(tmp_path):
    mix = ["data.mix=[{files: [a.tsv], weight: 0.5, tag: bt}, {files: [b.en, b.de], swap: true}]"]
    config = load_config(None, mix)
    assert config.data.mix == (
        MixConfig(("a.tsv",), weight=0.5, tag="bt"),
        MixConfig(("b.en", "b.de"), swap=True),
    )
    save_config(config, tmp_path / "config.yaml")
    assert load_config(tmp_path / "config.yaml") == config


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("[a.tsv]", "data.mix is a list of files"),
        ("[{file: [a.tsv]}]", r"data.mix\[0\]: there is no 'file'; data.mix is a list of files"),
        ("[{weight: 2}]", r"data.mix\[0\]: files is missing; data.mix is a list of files"),
        (
            "[{files: [a], weight: x}]",
            r"data.mix\[0\]: weight must be a number, not 'x'; data.mix is",
        ),
        ("[{files: [a], tag: no}]", r"data.mix\[0\]: tag must be text, not False: quote it"),
        ("[{files: []}]", "files is"),
        ("[{files: [a], weight: 0}]", "weight must be more than 0"),
        ("[{files: [a], weight: .inf}]", "weight must be"),
        ("[{files: [a], tag: '<bt>'}]", "tag must be letters and digits"),
        (f"[{', '.join(f'{{files: [a], tag: t{n}}}' for n in range(9))}]", "at most 8"),
    ],
)
def test_a_malformed_mix(value, message):
    with pytest.raises(ConfigError, match=message) as error:
        load_config(None, [f"data.mix={value}"])
    assert "\n" not in str(error.value)


def test_a_tag_needs_a_trained_tokenizer():
    overrides = ["data.mix=[{files: [a], tag: bt}]", "tokenizer.kind=bpemb"]
    with pytest.raises(ConfigError, match="needs tokenizer.kind=trained"):
        load_config(None, overrides)
