"""The loss against the formula, one token at a time."""

import keras
import numpy as np
import pytest

from transformer_tf.training.losses import projected_cross_entropy

IDS = np.array([[3, 1, 2, 0, 0], [4, 0, 0, 0, 0], [0, 0, 0, 0, 0]], "int32")
REAL = IDS != 0


@pytest.fixture(autouse=True, params=[keras.backend.backend(), "jax"])
def backend(request, monkeypatch):
    """Both ways to compute the loss: in chunks on TensorFlow, and with all logits elsewhere."""
    monkeypatch.setattr(keras.backend, "backend", lambda: request.param)


@pytest.fixture
def projection(random):
    """Hidden vectors, a matrix that projects them onto seven tokens, and a bias."""
    shapes = (3, 5, 4), (4, 7), (7,)
    return [random.normal(size=shape).astype("float32") for shape in shapes]


def losses(hidden, kernel, bias, ids=IDS, smoothing=0.0):
    """The three results, the first one as the mean over real tokens."""
    real = (ids != 0).astype("float32")
    weights = real / max(real.sum(), 1)
    results = projected_cross_entropy(hidden, kernel, bias, ids, weights, smoothing, training=False)
    return [float(result) for result in results]


def slow_losses(logits, smoothing=0.0):
    """Cross-entropy of each real token against the smoothed one-hot distribution."""
    found = []
    for token, z in zip(IDS[REAL], logits[REAL], strict=True):
        log_p = z - np.log(np.exp(z).sum())
        target = np.full(len(z), smoothing / len(z))
        target[token] += 1 - smoothing
        found.append(-(target * log_p).sum())
    return found


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("with_bias", [False, True])
def test_only_real_tokens_count(projection, smoothing, with_bias):
    hidden, kernel, bias = projection
    bias = bias if with_bias else None
    logits = hidden @ kernel + (0 if bias is None else bias)
    loss, cross_entropy, correct = losses(hidden, kernel, bias, smoothing=smoothing)
    assert loss == pytest.approx(np.mean(slow_losses(logits, smoothing)), rel=1e-5)
    assert cross_entropy == pytest.approx(np.sum(slow_losses(logits)), rel=1e-5)
    assert correct == (logits.argmax(-1) == IDS)[REAL].sum()


def test_one_position(projection):
    hidden, kernel, bias = projection
    first = np.where(np.arange(5) == 0, IDS, 0)
    expected = losses(hidden, kernel, bias, first)
    assert losses(hidden[:, :1], kernel, bias, IDS[:, :1]) == pytest.approx(expected)


def test_padding_alone_has_no_loss(projection):
    assert losses(*projection, ids=np.zeros_like(IDS)) == [0, 0, 0]


def test_equal_logits_are_correct(projection):
    """With bfloat16 several tokens may have the highest logit."""
    hidden, kernel, _ = projection
    assert losses(hidden, 0 * kernel, None)[2] == REAL.sum()
