"""A transformer encoder of two blocks over 128 tokens, with AdamW."""

import keras
import numpy as np

TOKENS, WORDS, WIDTH, HEADS = 128, 8000, 128, 4


def _block(inputs):
    layers = keras.layers
    attended = layers.MultiHeadAttention(HEADS, WIDTH // HEADS, dropout=0.1)(inputs, inputs)
    summed = layers.LayerNormalization()(layers.Add()([inputs, attended]))
    wide = layers.Dense(4 * WIDTH, activation="gelu")(summed)
    narrow = layers.Dropout(0.1)(layers.Dense(WIDTH)(wide))
    return layers.LayerNormalization()(layers.Add()([summed, narrow]))


def build():
    tokens = keras.Input((TOKENS,), dtype="int32")
    hidden = keras.layers.Embedding(WORDS, WIDTH)(tokens)
    for _ in range(2):
        hidden = _block(hidden)
    pooled = keras.layers.GlobalAveragePooling1D()(hidden)
    model = keras.Model(tokens, keras.layers.Dense(2, activation="softmax")(pooled))
    model.compile("adamw", "sparse_categorical_crossentropy")
    return model


def data(count):
    random = np.random.default_rng(0)
    return random.integers(0, WORDS, (count, TOKENS)), random.integers(0, 2, count)
