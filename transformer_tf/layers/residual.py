"""What surrounds every sub-layer: residual connection, dropout, normalisation (§3.1, §5.4)."""

import keras

from transformer_tf.layers.normalization import LayerNormalization


@keras.saving.register_keras_serializable(package="transformer_tf")
class Residual(keras.layers.Layer):
    """The frame around a sub-layer of the paper, LayerNorm(x + Dropout(sublayer(x))).

    Used in two halves, so that the sub-layer itself stays visible where it is called:

        y = residual.enter(x)
        y = sublayer(y)
        x = residual(x, y)

    Args:
        dropout_rate: Share of the sub-layer's output set to zero in training (§5.4). It draws from
            the generator that `keras.utils.set_random_seed` sets.
        pre_norm: Whether to normalise a sub-layer's input instead, x + Dropout(sublayer(
            LayerNorm(x))), which trains deep stacks more easily (Xiong et al. 2020).
        **kwargs: Arguments of `keras.layers.Layer`.

    Call arguments:
        x: Tensor `(batch, length, d_model)`, the input of the frame.
        y: Tensor of the same shape, the output of the sub-layer.

    Returns:
        Tensor of the same shape.
    """

    def __init__(self, dropout_rate: float = 0.1, pre_norm: bool = False, **kwargs):
        super().__init__(**kwargs)
        self.dropout_rate = dropout_rate
        self.pre_norm = pre_norm

    def build(self, x_shape, y_shape=None):
        self.norm = LayerNormalization(dtype=self.dtype_policy, name="norm")
        self.norm.build(x_shape)
        self.dropout = keras.layers.Dropout(self.dropout_rate, dtype=self.dtype_policy)

    def enter(self, x):
        """What the sub-layer gets to see of `x`."""
        if not self.built:
            self.build(x.shape)
        return self.norm(x) if self.pre_norm else x

    def call(self, x, y, training=None):
        x = x + self.dropout(y, training=training)
        return x if self.pre_norm else self.norm(x)

    def get_config(self):
        return {
            **super().get_config(),
            "dropout_rate": self.dropout_rate,
            "pre_norm": self.pre_norm,
        }
