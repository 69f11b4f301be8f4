import keras
import numpy as np
import pytest

from transformer_tf.training.schedule import TransformerSchedule


@pytest.mark.parametrize(("d_model", "warmup_steps"), [(128, 4000), (1, 1)])
def test_hand_computed_points(d_model, warmup_steps):
    schedule = TransformerSchedule(d_model, warmup_steps)
    # Step n of the paper is update n - 1 of Keras.
    for step in (1, 10, 3999, 4000, 4001, 20000):
        expected = d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)
        assert float(schedule(step - 1)) == pytest.approx(expected, rel=1e-5)


def test_config_round_trip_inside_an_optimizer():
    optimizer = keras.optimizers.Adam(TransformerSchedule(7, 11, 0.5))
    copy = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    assert copy.get_config()["learning_rate"] == optimizer.get_config()["learning_rate"]


@pytest.mark.parametrize("sizes", [(0, 4), (4, 0)])
def test_sizes_must_be_positive(sizes):
    with pytest.raises(ValueError, match="Received: d_model="):
        TransformerSchedule(*sizes)


def test_cooldown_falls_to_zero():
    """Linearly, as a factor on the paper's curve; the last update still has a rate above 0."""
    plain = TransformerSchedule(16, 5)
    cooled = TransformerSchedule(16, 5, cooldown_steps=10, last_step=30)
    shares = [float(cooled(step)) / float(plain(step)) for step in range(40)]  # from update 1 on
    np.testing.assert_allclose(shares[:21], 1, rtol=1e-6)
    np.testing.assert_allclose(shares[20:30], np.arange(10, 0, -1) / 10, rtol=1e-5)
    assert shares[30:] == [0] * 10
    again = TransformerSchedule.from_config(cooled.get_config())
    assert float(again(25)) == float(cooled(25))
    with pytest.raises(ValueError, match="Received: cooldown_steps=3, last_step=None"):
        TransformerSchedule(16, cooldown_steps=3)
