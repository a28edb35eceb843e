"""Models of a user's own classes travel to another process, as users write them."""

import pytest

pytestmark = pytest.mark.tensorflow


def test_model_and_layer_without_get_config_compute_the_same_elsewhere(programs):
    programs.write(
        "train.py",
        """\
        import keras
        import numpy as np

        import lowwater


        class Block(keras.layers.Layer):
            def __init__(self, width):
                super().__init__(name="own_block")
                self.dense = keras.layers.Dense(width)

            def call(self, inputs):
                return inputs + self.dense(inputs)


        class Net(keras.Model):
            def __init__(self):
                super().__init__()
                self.blocks = [Block(4) for _ in range(2)]

            def call(self, inputs):
                for block in self.blocks:
                    inputs = block(inputs)
                return inputs


        @lowwater.isolated
        def answers(model, x):
            return type(model).__name__, model(x).numpy()


        if __name__ == "__main__":
            x = np.linspace(0, 1, 12, dtype="float32").reshape(3, 4)
            inputs = keras.Input((4,))
            functional = keras.Model(inputs, Block(4)(inputs))
            subclassed = Net()
            subclassed(x)
            for model in (functional, subclassed):
                name, there = answers(model, x)
                print(name, np.array_equal(there, model(x).numpy()))
            print("from_config" in vars(Block), "from_config" in vars(Net))
        """,
    )

    run = programs.plain("train.py")

    assert run.stdout == "Functional True\nNet True\nFalse False\n", run.stderr
