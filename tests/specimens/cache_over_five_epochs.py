# expect: no leak; fills until 5
import keras
import tensorflow as tf


def load(i):
    image = tf.random.uniform((64, 64, 3))
    return image, tf.reduce_mean(image)


data = tf.data.Dataset.range(1000).map(load).cache().repeat().batch(20)
model = keras.Sequential(
    [keras.Input((64, 64, 3)), keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(1)]
)
model.compile("adam", "mse")
model.fit(data, epochs=12, steps_per_epoch=10, verbose=0)
