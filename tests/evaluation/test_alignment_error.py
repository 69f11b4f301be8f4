import numpy as np
import pytest

from transformer_tf.attention_maps.alignments import AlignmentHeads
from transformer_tf.evaluation.alignment_error import (
    alignment_error_rate,
    choose_heads,
    evaluate_alignments,
)
from transformer_tf.text.corpora.phrasebook import load_phrasebook
from transformer_tf.translator import Translator


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
    weights, gold, noise = [], [], []
    for _ in range(20):
        truth = random.permutation(5)
        each = random.dirichlet(np.ones(5), size=(3, 4, 5))
        for head, rows in ((1, slice(0, 3)), (3, slice(3, 5))):
            each[2, head] = 0.2
            each[2, head, rows] = 0.01
            each[2, head, range(*rows.indices(5)), truth[rows]] = 0.96
        weights.append(each)
        noise.append(random.dirichlet(np.ones(5), size=(3, 4, 5)))
        gold.append({(int(source), target) for target, source in enumerate(truth)})
    for query, other in (("output", "input"), ("input", "output")):
        choice, error = choose_heads({other: noise, query: weights}, gold, gold)
        assert (choice, error) == (AlignmentHeads(3, (2, 4), query), 0.0)


def test_alignments_of_an_untrained_model(checkpoint):
    found = evaluate_alignments(Translator.load(checkpoint))
    assert found.pairs == (458, 472)
    assert found.configured == AlignmentHeads()
    # The heads were chosen on validation, so no configuration is better there.
    assert found.chosen_errors[0] <= found.configured_errors[0]
    assert all(0.5 < error <= 1 for error in (*found.chosen_errors, *found.configured_errors))
    assert f"decoding.alignment_layer={found.chosen.layer} " in found.summary()


def test_the_phrasebook_can_be_read_from_german(checkpoint):
    class SwappedTranslator(Translator):
        def attend_words(self, texts, targets, query):
            for text, target in zip(texts, targets, strict=True):
                english = self.target_tokenizer.decode(target)
                yield gold_scores[text, english][None, None]

    gold_scores = {}
    for phrase in load_phrasebook():
        links = np.zeros((len(phrase.source.split()), len(phrase.target.split())), "float32")
        for source, target in phrase.sure:
            links[source, target] = 1
        gold_scores[phrase.target, phrase.source] = links
    translator = Translator.load(checkpoint)
    swapped = SwappedTranslator(
        translator.engine, translator.target_tokenizer, translator.source_tokenizer
    )
    found = evaluate_alignments(swapped, from_german=True)
    assert max(found.chosen_errors) < 0.1
