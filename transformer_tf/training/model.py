"""A Transformer together with its loss, for `fit`."""

from __future__ import annotations

import keras
from keras import ops

from transformer_tf.config import TrainingConfig
from transformer_tf.training.losses import projected_cross_entropy
from transformer_tf.training.muon import Muon
from transformer_tf.training.schedule import TransformerSchedule


class TrainingModel(keras.Model):
    """A Transformer with its loss, computed without holding the logits of the whole batch.

    Fit it on `(inputs, target_output, weights)`. `weights` has the weight of each token in the
    loss; by default 1 / the number of real tokens. When several processes share a batch, give all
    its tokens the same weight.

    The metrics are means over real tokens, independent of the weights: `loss`, with label
    smoothing; `accuracy`; `perplexity`, exp of the mean cross-entropy without smoothing; and
    `tokens`, the number of real tokens.

    Args:
        transformer: The built model.
        label_smoothing: ε of §5.4, from 0 to less than 1.
    """

    def __init__(self, transformer: keras.Model, label_smoothing: float = 0.0):
        super().__init__(dtype=transformer.dtype_policy)
        self.transformer = transformer
        self.label_smoothing = label_smoothing
        self.loss_mean = keras.metrics.Mean()
        self.cross_entropy_mean = keras.metrics.Mean()
        self.accuracy_mean = keras.metrics.Mean()
        self.built = True

    def call(self, inputs, training=None):
        return self.transformer.decoder_output(inputs, training=training)[0]

    def compute_loss(
        self, x=None, y=None, y_pred=None, sample_weight=None, training=True, **kwargs
    ):
        target = ops.cast(y, "int32")
        real = ops.cast(ops.not_equal(target, self.transformer.pad_id), "float32")
        tokens = ops.sum(real)
        if sample_weight is None:
            weights = real / ops.maximum(tokens, 1.0)
        else:
            weights = real * ops.cast(sample_weight, "float32")
        kernel, bias = self.transformer.projection_weights()
        loss, cross_entropy, correct = projected_cross_entropy(
            y_pred, kernel, bias, target, weights, self.label_smoothing, training
        )
        count = ops.maximum(tokens, 1.0)
        all_weights = ops.maximum(ops.sum(weights), 1e-30)
        self.loss_mean.update_state(loss / all_weights, sample_weight=tokens)
        self.cross_entropy_mean.update_state(cross_entropy / count, sample_weight=tokens)
        self.accuracy_mean.update_state(correct / count, sample_weight=tokens)
        return loss

    def get_metrics_result(self):
        return {
            "loss": self.loss_mean.result(),
            "accuracy": self.accuracy_mean.result(),
            "perplexity": ops.exp(self.cross_entropy_mean.result()),
            "tokens": ops.convert_to_tensor(self.accuracy_mean.count),
        }


def compile_training_model(
    transformer: keras.Model, settings: TrainingConfig, schedule: TransformerSchedule
) -> TrainingModel:
    """Compiles a Transformer with its loss and an optimizer, ready for `fit`.

    Adam has the values of §5.3.

    Args:
        transformer: The built model.
        settings: The section `training` of the configuration.
        schedule: The learning rate.
    """
    if settings.optimizer == "muon":
        optimizer = Muon(schedule, transformer.compute_dtype, settings.clip_norm)
    else:
        optimizer = keras.optimizers.Adam(
            schedule, beta_1=0.9, beta_2=0.98, epsilon=1e-9, global_clipnorm=settings.clip_norm
        )
    model = TrainingModel(transformer, settings.label_smoothing)
    model.compile(
        optimizer=optimizer,
        # XLA compiles each shape again; TensorFlow's own kernels take any shape.
        jit_compile=keras.backend.backend() != "tensorflow",
    )
    model.optimizer.build(model.trainable_variables)
    return model
