"""The position-wise feed-forward network: §3.3 of "Attention Is All You Need"."""

import keras


@keras.saving.register_keras_serializable(package="transformer_tf")
class FeedForward(keras.layers.Layer):
    """Two linear layers with a ReLU in between, applied to each position (equation 2).

    Args:
        d_model: Size of the input and the output.
        d_ff: Size of the hidden layer.
        **kwargs: Arguments of `keras.layers.Layer`.

    Call arguments:
        x: Tensor `(batch, length, d_model)`.

    Returns:
        Tensor of the same shape.
    """

    def __init__(self, d_model: int, d_ff: int, **kwargs):
        super().__init__(**kwargs)
        self.d_model = d_model
        self.d_ff = d_ff

    def build(self, input_shape):
        policy = self.dtype_policy
        self.hidden = keras.layers.Dense(self.d_ff, activation="relu", dtype=policy, name="hidden")
        self.hidden.build(input_shape)
        self.output_projection = keras.layers.Dense(
            self.d_model, dtype=policy, name="output_projection"
        )
        self.output_projection.build((*input_shape[:-1], self.d_ff))

    def call(self, x):
        return self.output_projection(self.hidden(x))

    def get_config(self):
        return {**super().get_config(), "d_model": self.d_model, "d_ff": self.d_ff}
