import keras
import numpy as np
import pytest

from transformer_tf.training.losses import MaskedCrossEntropy
from transformer_tf.training.metrics import Perplexity, TokenAccuracy

IDS = np.array([[3, 1, 2, 0, 0], [4, 0, 0, 0, 0], [0, 0, 0, 0, 0]])


def slow_losses(ids, logits, smoothing=0.0):
    """Cross-entropy of each real token against the smoothed one-hot distribution."""
    losses = []
    for row, scores in zip(ids, logits, strict=True):
        for token, z in zip(row, scores, strict=True):
            if token:
                log_p = z - np.log(np.exp(z).sum())
                target = np.full(len(z), smoothing / len(z))
                target[token] += 1 - smoothing
                losses.append(-(target * log_p).sum())
    return losses


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_loss_is_the_mean_over_real_tokens(random, smoothing):
    logits = random.normal(size=(3, 5, 7)).astype("float32")
    loss = float(MaskedCrossEntropy(smoothing)(IDS, logits))
    assert loss == pytest.approx(np.mean(slow_losses(IDS, logits, smoothing)), rel=1e-5)


def test_logits_at_padding_do_not_matter(random):
    logits = random.normal(size=(3, 5, 7)).astype("float32")
    other = np.where(IDS[..., None] == 0, 9 * logits + 5, logits)
    loss = MaskedCrossEntropy(0.1)
    assert float(loss(IDS, other)) == pytest.approx(float(loss(IDS, logits)), rel=1e-6)


def test_padding_alone_has_no_loss(random):
    logits = random.normal(size=(3, 5, 7)).astype("float32")
    assert float(MaskedCrossEntropy(0.1)(np.zeros_like(IDS), logits)) == 0


def test_loss_config():
    loss = MaskedCrossEntropy(0.1, pad_id=5)
    copy = keras.losses.deserialize(keras.losses.serialize(loss))
    assert (copy.label_smoothing, copy.pad_id) == (0.1, 5)
    with pytest.raises(ValueError, match="label_smoothing=1"):
        MaskedCrossEntropy(1)


def test_accuracy_counts_real_tokens_over_batches():
    logits = np.zeros((3, 5, 7), "float32")
    logits[0, 0, 3] = logits[0, 1, 1] = 1  # right
    logits[0, 2, 6] = 1  # wrong
    logits[1, 0, 4] = 1  # right
    # At padding the arg-max is 0, the padding itself, and must not count as right.
    metric = TokenAccuracy()
    metric.update_state(IDS, logits)
    assert float(metric.result()) == pytest.approx(3 / 4)
    metric.update_state(np.array([[1, 1]]), np.zeros((1, 2, 7), "float32"))
    assert float(metric.result()) == pytest.approx(3 / 6)


def test_perplexity_weighs_tokens_not_batches(random):
    logits = random.normal(size=(3, 5, 7)).astype("float32")
    metric = Perplexity()
    metric.update_state(IDS[:1], logits[:1])
    metric.update_state(IDS[1:], logits[1:])
    assert float(metric.result()) == pytest.approx(np.exp(np.mean(slow_losses(IDS, logits))))
    uniform = Perplexity()
    uniform.update_state(IDS, np.zeros((3, 5, 7), "float32"))
    assert float(uniform.result()) == pytest.approx(7)
    assert keras.metrics.deserialize(keras.metrics.serialize(metric)).pad_id == 0
