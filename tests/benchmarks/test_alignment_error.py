import shutil

import numpy as np
import pytest

from benchmarks.alignment_error import (
    alignment_error_rate,
    choose_heads,
    measure_alignments,
)
from transformer_tf.config import AlignmentHeads
from transformer_tf.text.corpora.phrasebook import load_phrasebook
from transformer_tf.translator import Translator

ROWS = ("validation", "test")


def test_error_rate_by_hand():
    found = [{(0, 0), (1, 1), (2, 2)}]
    sure = [{(0, 0), (1, 2)}]
    possible = [{(0, 0), (1, 2), (1, 1)}]
    # |A & S| = 1, |A & P| = 2, |A| = 3, |S| = 2
    assert alignment_error_rate(found, sure, possible) == pytest.approx(1 - 3 / 5)
    assert alignment_error_rate(sure, sure, possible) == 0
    assert alignment_error_rate([{(5, 5)}], sure, possible) == 1
    with pytest.raises(ValueError, match="at least one link"):
        alignment_error_rate([set()], [set()], [set()])


def test_the_heads_that_align_are_found(random):
    """Heads 2 and 4 of layer 3 each find half of the links, and together all of them."""
    weights, gold = [], []
    for _ in range(20):
        truth = random.permutation(5)
        heads = random.dirichlet(np.ones(5), size=(3, 4, 5))
        for head, rows in ((1, slice(0, 3)), (3, slice(3, 5))):
            heads[2, head] = 0.2
            heads[2, head, rows] = 0.01
            heads[2, head, range(*rows.indices(5)), truth[rows]] = 0.96
        weights.append(heads)
        gold.append({(int(source), target) for target, source in enumerate(truth)})
    choice, error = choose_heads(weights, "input", gold, gold)
    assert (choice, error) == (AlignmentHeads(3, (2, 4), "input"), 0.0)


def test_alignments_of_an_untrained_model(checkpoint):
    configured, *best = measure_alignments(checkpoint)
    assert configured["decoding.alignment"] is None
    # The heads were chosen on validation, so no configuration is better there.
    assert [row["decoding.alignment"]["query"] for row in best] == ["output", "input"]
    assert best[0]["validation"] <= configured["validation"]
    assert all(0.5 < row[split] <= 1 for row in (configured, *best) for split in ROWS)


def test_the_phrasebook_can_be_read_from_german(checkpoint, tmp_path, monkeypatch):
    """Attention that has the gold links has hardly any error."""

    def attend_words(self, texts, targets, query):
        for text, target in zip(texts, targets, strict=True):
            yield gold[text, self.target_tokenizer.decode(target)][None, None]

    gold = {}
    for phrase in load_phrasebook():
        links = np.zeros((len(phrase.source.split()), len(phrase.target.split())), "float32")
        for source, target in phrase.sure:
            links[source, target] = 1
        gold[phrase.target, phrase.source] = links
    folder = shutil.copytree(checkpoint, tmp_path / "de-en")
    for old, new in (("source", "target"), ("target", "source")):
        for path in (checkpoint / "tokenizers").glob(f"{old}.*"):
            shutil.copy(path, folder / "tokenizers" / path.name.replace(old, new))
    config = (folder / "config.yaml").read_text()
    config = config.replace("source_language: en", "source_language: de")
    config = config.replace("target_language: de", "target_language: en")
    (folder / "config.yaml").write_text(config)
    (folder / "hashes.txt").unlink()
    monkeypatch.setattr(Translator, "attend_words", attend_words)
    for row in [*measure_alignments(folder)][1:]:
        assert max(row[split] for split in ROWS) < 0.1
