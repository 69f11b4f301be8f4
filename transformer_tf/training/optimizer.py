"""Adam with one TensorFlow operation for each variable instead of a dozen.

On TensorFlow, a training step with `keras.optimizers.Adam` takes 4 % more processor time
(4 layers, d_model 128, 8 heads, d_ff 512; batches of 96 × 16 tokens; two cores; 2026-11-22).
"""

import keras


@keras.saving.register_keras_serializable(package="transformer_tf")
class Adam(keras.optimizers.Adam):
    """`keras.optimizers.Adam` with a faster update on TensorFlow.

    Other backends fuse the operations themselves and use Keras's update.
    """

    def update_step(self, gradient, variable, learning_rate):
        """Updates a variable.

        Args:
            gradient: Its gradient.
            variable: The variable.
            learning_rate: The learning rate of this update.
        """
        if keras.backend.backend() != "tensorflow" or self.amsgrad:
            super().update_step(gradient, variable, learning_rate)
            return
        import tensorflow as tf

        update = tf.cast(self.iterations + 1, tf.float32)
        index = self._get_variable_index(variable)
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=self._momentums[index].value.handle,
            v=self._velocities[index].value.handle,
            beta1_power=tf.pow(self.beta_1, update),
            beta2_power=tf.pow(self.beta_2, update),
            lr=tf.cast(learning_rate, tf.float32),
            beta1=self.beta_1,
            beta2=self.beta_2,
            epsilon=self.epsilon,
            grad=tf.convert_to_tensor(gradient),
        )
