"""The copy task: a small model learns to repeat its input."""

import keras
import numpy as np
import pytest

from transformer_tf.config import DecodingConfig
from transformer_tf.decoding.keras_engine import KerasEngine
from transformer_tf.text.batching.batches import Batches
from transformer_tf.text.batching.encoded import EncodedPairs
from transformer_tf.training.model import TrainingModel
from transformer_tf.training.schedule import TransformerSchedule
from transformer_tf.training.stream import BatchStream, as_dataset
from transformer_tf.transformer import Transformer

START, END, VOCAB = 11, 12, 13


def sequences(random, count):
    pairs = []
    for length in random.integers(2, 7, count):
        ids = [START, *random.integers(1, START, length).tolist(), END]
        pairs.append((ids, ids))
    return pairs


@pytest.mark.slow
def test_unseen_sequences_are_copied_exactly(random):
    keras.utils.set_random_seed(0)
    model = Transformer(
        num_layers=1,
        d_model=32,
        num_heads=4,
        d_ff=64,
        source_vocab_size=VOCAB,
        target_vocab_size=VOCAB,
        dropout_rate=0.0,
    )
    model.build()
    training_model = TrainingModel(model)
    training_model.compile(
        keras.optimizers.Adam(TransformerSchedule(32, 300), beta_2=0.98, epsilon=1e-9),
        jit_compile=keras.backend.backend() != "tensorflow",
    )
    batches = Batches(
        EncodedPairs.from_lists(sequences(random, 3000)), tokens_per_batch=512, max_buckets=3
    )
    stream = BatchStream(batches)
    steps = stream.steps_per_epoch
    for epoch in range(25):
        history = training_model.fit(
            as_dataset(lambda first=epoch * steps: stream.take(first, first + steps), steps),
            steps_per_epoch=steps,
            shuffle=False,
            verbose=0,
        )
        if epoch == 0:
            assert history.history["accuracy"][0] < 0.6
    assert int(training_model.optimizer.iterations.value) == 25 * steps

    unseen = sequences(random, 50)
    found = KerasEngine(model, START, END).search([p[0] for p in unseen], DecodingConfig())
    copies = [hypotheses[0].ids for hypotheses in found]
    assert copies == [source[1:-1] for source, _ in unseen]

    # Greedy search gives the arg-max of one teacher-forced pass over its own output.
    for source, copy in zip([p[0] for p in unseen[:9]], copies, strict=False):
        inputs = {"source": np.array([source]), "target_input": np.array([[START, *copy]])}
        assert np.asarray(model(inputs)).argmax(-1)[0].tolist() == [*copy, END]
