"""LW405 in the source: several processes that share one GPU."""

import pytest

from lowwater.testing import findings_in

TRAIN = (
    "import multiprocessing as mp\nimport keras\nimport numpy as np\n"
    "def train(fold):\n    model = keras.Sequential([])\n    return model.fit(x, y).history\n"
    "def load(path):\n    return np.load(path)\n"
)


def codes(text):
    return [one.code for one in findings_in(TRAIN + text) if one.code != "LW205"]


def test_a_pool_whose_processes_use_tensorflow_is_found():
    [finding] = findings_in(f"{TRAIN}with mp.Pool(4) as pool:\n    pool.map(train, range(9))\n")

    assert (finding.code, finding.span.line) == ("LW405", 9)
    assert finding.message == (
        "Several processes use TensorFlow, and each takes all GPU memory it can get."
    )


@pytest.mark.parametrize(
    "text",
    [
        "for fold in range(9):\n    mp.Process(target=train, args=(fold,)).start()\n",
        (
            "from concurrent.futures import ProcessPoolExecutor\n"
            "with ProcessPoolExecutor() as pool:\n    pool.submit(train, 1)\n"
        ),
    ],
)
def test_every_way_to_start_processes_is_found(text):
    assert codes(text) == ["LW405"]


@pytest.mark.parametrize(
    "text",
    [
        "with mp.Pool(4) as pool:\n    pool.map(load, paths)\n",
        "with mp.Pool(1) as pool:\n    pool.apply(train, (1,))\n",
        "mp.Process(target=train, args=(1,)).start()\n",
        (
            "import tensorflow as tf\ntf.config.experimental.set_memory_growth(gpu, True)\n"
            "with mp.Pool(4) as pool:\n    pool.map(train, range(9))\n"
        ),
        (
            "import os\nos.environ['TF_FORCE_GPU_ALLOW_GROWTH'] = 'true'\n"
            "with mp.Pool(4) as pool:\n    pool.map(train, range(9))\n"
        ),
        "from multiprocessing.pool import ThreadPool\nThreadPool(4).map(train, range(9))\n",
    ],
)
def test_processes_that_share_or_do_not_use_the_gpu_are_acquitted(text):
    assert codes(text) == []
