import keras
import numpy as np
import pytest

from transformer_tf.training.schedule import TransformerSchedule


def test_hand_computed_points():
    schedule = TransformerSchedule(d_model=128, warmup_steps=4000)
    # Step n of the paper is update n - 1 of Keras.
    for step in (1, 10, 3999, 4000, 4001, 20000):
        expected = 128**-0.5 * min(step**-0.5, step * 4000**-1.5)
        assert float(schedule(step - 1)) == pytest.approx(expected, rel=1e-5)


def test_the_first_update_is_not_lost():
    assert float(TransformerSchedule(512)(0)) > 0


def test_highest_where_the_warm_up_ends():
    schedule = TransformerSchedule(d_model=16, warmup_steps=50, scale=2.0)
    rates = np.array([float(schedule(step)) for step in range(200)])
    assert rates.argmax() == 49
    assert rates.max() == pytest.approx(2 * (16 * 50) ** -0.5, rel=1e-5)


def test_config_round_trip_inside_an_optimizer():
    optimizer = keras.optimizers.Adam(TransformerSchedule(7, 11, 0.5))
    copy = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    assert copy.get_config()["learning_rate"] == optimizer.get_config()["learning_rate"]


@pytest.mark.parametrize("sizes", [(0, 4), (4, 0)])
def test_sizes_must_be_positive(sizes):
    with pytest.raises(ValueError, match="Received: d_model="):
        TransformerSchedule(*sizes)
