"""`lowwater diagnose` on real programs: the right change is named, and nothing else."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pexpect
import pytest

SPECIMENS = Path(__file__).parent.parent / "specimens"
KERAS = """
    import numpy as np
    import keras

    x, y = np.ones((256, 16), "float32"), np.ones((256, 1), "float32")

    def make():
        model = keras.Sequential(
            [keras.Input((16,)), keras.layers.Dense(32), keras.layers.Dense(1)]
        )
        model.compile("sgd", "mse")
        return model
"""
TWO_CALLBACKS = """
    class Counts(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            self.last = epoch

    class Keeps(keras.callbacks.Callback):
        def __init__(self):
            super().__init__()
            self.saved = []

        def on_epoch_end(self, epoch, logs=None):
            self.saved.append(np.ones((512, 1024), "float32"))
"""


@dataclass(frozen=True)
class Outcome:
    """What a user sees of one diagnosis."""

    returncode: int
    stdout: str
    stderr: str
    report: dict

    def row(self, name):
        return next(one for one in self.report["experiments"] if one["name"] == name)

    def effect(self, name):
        return (self.row(name)["difference"] or {}).get("effect")

    @property
    def runs(self):
        return [one["name"] for one in self.report["experiments"] if one["measured"]]

    @property
    def sentences(self):
        return self.report["conclusion"]["sentences"]

    @property
    def states(self):
        return {one["code"]: one["state"] for one in self.report["conclusion"]["findings"]}


@pytest.fixture
def diagnosis(programs):
    """Diagnoses a program; its recordings are kept in a folder of the test."""
    cache, report = programs.folder / "cache", programs.folder / "report.json"

    def diagnose(*arguments):
        env = {**programs.env, "XDG_CACHE_HOME": str(cache)}
        report.unlink(missing_ok=True)
        done = programs.lowwater(
            *("diagnose", "--yes", "--json", str(report), *arguments), env=env, timeout=600
        )
        content = json.loads(report.read_text()) if report.exists() else {}
        return Outcome(done.returncode, done.stdout, done.stderr, content)

    return diagnose


def write(programs, *parts):
    text = "\n".join(part.strip("\n") for part in parts)
    return programs.write("train.py", text).name


@pytest.mark.tensorflow
def test_the_one_callback_of_two_is_named_and_a_second_diagnosis_runs_nothing(programs, diagnosis):
    call = "    make().fit(x, y, epochs=80, verbose=0, callbacks=[Counts(), Keeps()])"
    script = write(programs, KERAS, TWO_CALLBACKS, call)

    first = diagnosis(script)

    [sentence] = first.sentences
    assert sentence.startswith("The callback Keeps (train.py:")
    assert "100 %" in sentence
    assert first.effect("without Keeps") == "stops"
    assert first.effect("without Counts") == "same"
    assert first.states["LW101"] == "confirmed"
    assert first.row("as it is")["measured"]["rounds"] == 12

    stamps = _stamps(programs.folder / "cache")
    second = diagnosis("--record", "kept.lw", script)

    assert len(stamps) == len(first.runs)
    assert _stamps(programs.folder / "cache") == stamps
    assert second.sentences == first.sentences

    shown = programs.lowwater("report", "--json", "again.json", "kept.lw")

    assert shown.stdout == second.stdout
    assert json.loads((programs.folder / "again.json").read_text()) == second.report


def _stamps(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*.lw")}


@pytest.mark.tensorflow
def test_generator_that_keeps_its_batches_is_named_and_long_loops_are_left(programs, diagnosis):
    script = write(
        programs,
        KERAS,
        """
    window = []

    def batches():
        while True:
            window.append(np.ones((32, 2048), "float32"))
            yield x[:32], y[:32]

    make().fit(batches(), steps_per_epoch=10_000, epochs=500, verbose=0)
    """,
    )

    found = diagnosis(script)

    [sentence] = found.sentences
    assert sentence == (
        "What `window` keeps (train.py:16) is the cause: when old items are removed from it in "
        "every epoch, the growth is gone (100 %)."
    )
    measured = found.row("as it is")["measured"]
    assert measured["growth_bytes"] == pytest.approx(30 * 32 * 2048 * 4, rel=0.1)


@pytest.mark.tensorflow
def test_long_data_set_on_jax_is_cut_and_named_without_tensorflow(with_jax, diagnosis, programs):
    script = write(
        programs,
        """
    import os, sys

    os.environ["KERAS_BACKEND"] = "jax"
    """,
        KERAS,
        """
    class Rows(keras.utils.PyDataset):
        kept = []

        def __len__(self):
            return 10_000

        def __getitem__(self, index):
            self.kept.append(np.ones((32, 2048), "float32"))
            return x[:32], y[:32]

    make().fit(Rows(), epochs=12, verbose=0)
    assert "tensorflow" not in sys.modules
    """,
    )

    found = diagnosis(script)

    [sentence] = found.sentences
    assert sentence.startswith("What `Rows.kept` keeps (train.py:")
    assert found.row("library leaks mended")["says"] == "the program does not use TensorFlow"
    measured = found.row("as it is")["measured"]
    assert measured["growth_bytes"] == pytest.approx(30 * 32 * 2048 * 4, rel=0.1)


@pytest.mark.tensorflow
def test_loop_of_models_is_explained_by_the_leak_that_is_mended(programs, diagnosis):
    script = write(
        programs,
        KERAS,
        """
    scores = []
    rows = [float(number) for number in map(abs, range(1000))]
    for fold in range(1000):
        scores.append(make().fit(x, y, epochs=1, verbose=0).history["loss"][-1])
    assert len(rows) == 1000
    """,
    )

    found = diagnosis(script)

    assert found.effect("library leaks mended") in {"stops", "less"}
    assert found.states.get("LW205") == "confirmed"
    said = r"A library leak that mend\(\) repairs is (part of )?the cause: without it, "
    assert re.match(said, found.sentences[0])
    assert not any(sentence.startswith("They act") for sentence in found.sentences)


@pytest.mark.tensorflow
def test_custom_loop_that_retraces_is_named_and_what_needs_fit_says_so(programs, diagnosis):
    script = write(
        programs,
        """
    import tensorflow as tf

    weights = tf.Variable(tf.ones((64, 64)))
    # Longer than any limit; it calls no framework, and the program needs all of it.
    rates = []
    for number in range(20_000):
        rates.append(float(number))

    @tf.function
    def step(batch, rate):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.matmul(batch, weights)) * rate
        weights.assign_sub(0.0 * tape.gradient(loss, weights))

    for epoch in range(10_000):
        for number in range(4):
            step(tf.ones((8, 64)), rates[epoch * 4 + number] if epoch < 4000 else 1.0)
            tf.identity(weights)
            str(number)
    """,
    )

    found = diagnosis(script)

    [sentence] = found.sentences
    assert sentence.startswith("What `step` keeps (train.py:9) is the cause: ")
    assert sentence.endswith(", the growth is gone (100 %).")
    assert found.states == {"LW202": "confirmed"}
    assert found.row("without your callbacks")["says"] == "the program does not call fit"


@pytest.mark.slow
@pytest.mark.tensorflow
def test_study_that_keeps_its_models_is_named_though_a_registry_holds_them_as_well(
    programs, diagnosis
):
    script = write(
        programs,
        KERAS,
        """
    class Study:
        def __init__(self):
            self.trials = []

        def optimize(self, objective, trials):
            for number in range(trials):
                self.trials.append({"number": number, "model": objective()})

    def objective():
        model = make()
        model.fit(x, y, epochs=1, verbose=0)
        return model

    study = Study()
    study.optimize(objective, 1000)
    """,
    )

    found = diagnosis(script)

    [sentence, *_] = found.sentences
    assert sentence.startswith("What `Study.trials` keeps (train.py:")
    assert "together with a library leak that mend() repairs" in sentence
    assert found.states["LW201"] == "confirmed"
    assert not any("tracing" in one for one in found.sentences)


@pytest.mark.slow
@pytest.mark.tensorflow
def test_producer_that_outruns_its_consumer_only_in_whole_rounds_is_not_acquitted(
    programs, diagnosis
):
    script = write(
        programs,
        """
    from collections import deque
    import numpy as np
    import tensorflow as tf

    weights, buffer = tf.Variable(tf.ones((16, 16))), deque()

    def produce(count):
        for number in range(count):
            with tf.GradientTape():
                frame = np.full((64, 64), number, "float32")
            buffer.append(frame)
            str(number)

    def consume(count):
        for number in range(count):
            frame = buffer.popleft()
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.matmul(frame[:16, :16], weights))
            weights.assign_sub(1e-6 * tape.gradient(loss, weights))

    # Cut to 30 steps each, they would keep pace.
    for episode in range(60):
        produce(60)
        consume(40)
    """,
    )

    found = diagnosis(script)

    assert found.states == {"LW102": "confirmed"}
    assert "all at full length" in " ".join(found.stdout.split())


@pytest.mark.tensorflow
def test_flat_program_stops_after_the_first_run_and_says_so(programs, diagnosis):
    found = diagnosis(write(programs, KERAS, "    make().fit(x, y, epochs=60, verbose=0)"))

    assert found.runs == ["as it is"]
    assert found.sentences == []
    assert "No leak found" in found.stdout
    # It would go on for 60 epochs: what was not seen is not acquitted.
    assert "The rest of the program was skipped" in " ".join(found.stdout.split())


@pytest.mark.tensorflow
def test_program_that_needs_its_callback_is_a_row_and_the_callback_is_named_all_the_same(
    programs, diagnosis
):
    use = """
    keeps = Keeps()
    make().fit(x, y, epochs=40, verbose=0, callbacks=[keeps, Asks()])
    """
    # It ends before the first epoch without the callback.
    early = """
    class Asks(keras.callbacks.TerminateOnNaN):
        def on_epoch_end(self, epoch, logs=None):
            assert keeps.saved

    Asks.__module__ = "keras.of_the_library"
    """

    found = diagnosis(write(programs, KERAS, TWO_CALLBACKS, early, use))

    assert found.returncode == 0
    assert found.effect("without your callbacks") == "failed"
    assert "exit code 1" in found.row("without your callbacks")["says"]
    assert found.effect("your callbacks run only once") == "stops"
    assert found.sentences[0].startswith("The callback Keeps (train.py:")


LISTS = """
    import random

    frames, recent = [], []

    def play(number):
        frames.append(bytearray(300_000))
        recent.append(number)
        if len(recent) > 20:
            del recent[0]
        return random.sample(frames, NEEDED) if number > 7 else []

    for number in range(60):
        play(number)
        str(number)
    print(len(frames))
"""


@pytest.mark.parametrize(
    ("needed", "name"),
    [("1", "old items removed"), ("7", "your containers stop growing")],
)
def test_list_of_a_program_without_any_framework_is_named_by_its_line(
    programs, diagnosis, needed, name
):
    found = diagnosis(write(programs, LISTS.replace("NEEDED", needed)))

    [sentence] = found.sentences
    assert sentence.startswith("What `frames` keeps (train.py:6) is the cause: ")
    assert sentence.endswith(", the growth is gone (100 %).")
    assert found.effect(name) == "stops"
    assert found.states == {"LW102": "confirmed"}
    assert found.row("library leaks mended")["measured"] is None


@pytest.mark.slow
@pytest.mark.tensorflow
def test_two_causes_are_both_named_with_shares_that_add_up(programs, diagnosis):
    call = """
    class Also(keras.callbacks.Callback):
        saved = []

        def on_epoch_end(self, epoch, logs=None):
            self.saved.append(np.ones((256, 1024), "float32"))

    make().fit(x, y, epochs=80, verbose=0, callbacks=[Also(), Keeps()])
    """
    found = diagnosis(write(programs, KERAS, TWO_CALLBACKS, call))

    larger, smaller = found.sentences
    shares = {
        name: found.row(f"without {name}")["difference"]["share"] for name in ("Keeps", "Also")
    }
    assert larger.startswith("The callback Keeps")
    assert smaller.startswith("The callback Also")
    assert shares["Keeps"] == pytest.approx(2 / 3, abs=0.1)
    assert sum(shares.values()) == pytest.approx(1, abs=0.1)


@pytest.mark.slow
@pytest.mark.tensorflow
def test_program_that_needs_all_rounds_of_a_loop_is_run_again_with_whole_loops(programs, diagnosis):
    prepared = """
    features, model = [], make()
    for number in range(90):
        features.append(model.predict_on_batch(x[:4]))
        time.sleep(0.15)
    assert len(features) == 90
    make().fit(x, y, epochs=40, verbose=0, callbacks=[Keeps()])
    """
    script = write(programs, KERAS, "    import time", TWO_CALLBACKS, prepared)

    found = diagnosis(script)

    assert found.sentences[0].startswith("The callback Keeps (train.py:")
    assert found.effect("without your callbacks") == "stops"


# For each specimen how the sentences begin that name its causes; nothing else may be named.
LIBRARY = "A library leak that mend() repairs is the cause"


def part(sentence):
    return sentence.replace("is the cause", "is part of the cause")


NAMED = {
    "callback_leaks": ["The callback BadCallback"],
    "validation_recorder_leaks": ["The callback ValidationRecorder"],
    "generator_keeps_batches_leaks": ["What `HardSamples.history` keeps"],
    "sequence_per_fit_leaks": ["What `Graph._py_funcs_used_in_graph` keeps"],
    "generator_pipeline_per_epoch_leaks": ["What `Graph._py_funcs_used_in_graph` keeps"],
    "histories_by_fold_leaks": ["What `Comparison.histories` keeps"],
    "shuffle_buffer_outgrows_leaks": ["`shuffle()` is part of the cause", "The other"],
    "cache_behind_repeat_leaks": ["`cache()` is the cause"],
    "retrace_epsilon_leaks": [
        "What `Agent.learn` keeps (retrace_epsilon_leaks.py:16) is the cause"
    ],
    # About nine tenths of it: whether that is called all of it or a part is a matter of bytes.
    "function_per_task_leaks": ["What `step` keeps (function_per_task_leaks.py:19) is "],
    "kfold_fresh_models_leaks": [LIBRARY],
    "callback_and_models_leaks": [part(LIBRARY), "What `EpochOutputs.outputs` keeps"],
    "ragged_blocks_fragmented": ["How malloc keeps free memory is the cause"],
    "generator_closure_leaks": ["What `generator.window` keeps"],
    "seeded_noise_leaks": ["What TensorFlow keeps for every new shape, seed, name or number"],
    "replay_memory_leaks": ["What `ReplayMemory.transitions` keeps (replay_memory_leaks.py:21)"],
    "models_for_ensemble_leaks": [
        "What `Ensemble.members` keeps (models_for_ensemble_leaks.py:26)"
    ],
    "epoch_key_cache_leaks": ["What `spectrogram.cache` keeps (epoch_key_cache_leaks.py:16)"],
    "list_and_retracing_leaks": ["What `Policy.update` keeps", "What `Session.frames` keeps"],
    "heads_on_backbone_leaks": ["What `Dense._outbound_nodes` keeps"],
    "registered_loss_per_fold_leaks": ["What `object_registration.GLOBAL_CUSTOM_NAMES`"],
    "kept_tapes_leaks": ["What `Rollouts.tapes` keeps (kept_tapes_leaks.py:27) is the cause"],
    "tape_as_attribute_leaks": ["A gradient tape that is never closed is the cause"],
    "lr_assign_graph_leaks": ["Adding operations to a graph in every round is the cause"],
    "callback_flat": [],
    "tape_loop_flat": [],
}


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.parametrize("name", NAMED)
def test_the_causes_of_a_specimen_are_named_and_no_other(programs, diagnosis, name):
    shutil.copy(SPECIMENS / f"{name}.py", programs.folder)

    found = diagnosis(f"{name}.py")

    # What is left over names no cause, and whether it is enough to be told of is a matter of bytes.
    named = [one for one in found.sentences if not one.startswith("A smaller leak remains")]
    beginnings = NAMED[name]
    assert len(named) == len(beginnings), found.sentences
    assert all(map(str.startswith, named, beginnings)), found.sentences


def test_program_without_a_leak_leaves_nothing_behind_in_a_sandbox(programs, diagnosis):
    programs.write("data.txt", "here")
    script = write(
        programs,
        """
    import pathlib

    assert pathlib.Path("data.txt").read_text() == "here"
    pathlib.Path("out").mkdir()
    pathlib.Path("out/written.txt").write_text("x")
    for number in range(20):
        str(number)
    """,
    )
    before = {*os.listdir(programs.folder)}

    found = diagnosis("--sandbox", script)

    assert found.returncode == 0
    assert "exit code" not in found.row("as it is")["says"]
    assert {*os.listdir(programs.folder)} - before == {"cache", "report.json"}


def test_interrupt_ends_the_diagnosis_and_the_cut_run_is_made_again(programs, diagnosis):
    script = write(
        programs,
        """
    import os, pathlib, signal

    count = pathlib.Path("count.txt")
    runs = int(count.read_text()) if count.exists() else 0
    count.write_text(str(runs + 1))
    if runs == 0:
        os.kill(os.getpid(), signal.SIGINT)
    for number in range(20):
        str(number)
    """,
    )

    first = diagnosis(script)
    second = diagnosis(script)
    third = diagnosis(script)

    assert first.returncode != 0
    assert first.report == {}
    assert "Traceback" not in first.stderr
    assert second.runs == third.runs == ["as it is"]
    assert (programs.folder / "count.txt").read_text() == "2"


def test_interrupt_that_the_program_takes_for_its_end_ends_the_diagnosis_too(programs, diagnosis):
    script = write(
        programs,
        """
    import os, pathlib, signal, time

    runs = pathlib.Path("runs.txt")
    with runs.open("a") as file:
        file.write("x")
    if len(runs.read_text()) == 1:
        # To lowwater alone, which passes it on.
        os.kill(os.getppid(), signal.SIGINT)
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            raise SystemExit(0)
    for number in range(20):
        str(number)
    """,
    )

    first = diagnosis(script)
    second = diagnosis(script)

    assert first.returncode == 130
    assert first.report == {}
    assert second.runs == ["as it is"]
    assert (programs.folder / "runs.txt").read_text() == "xx"


def test_program_that_fails_is_told_with_its_last_words_and_its_exit_code(programs, diagnosis):
    script = write(programs, "    print('before')", "    raise KeyError('loss')")

    found = diagnosis(script)

    assert found.returncode == 1
    assert found.row("as it is")["says"] == "KeyError: 'loss' (exit code 1)"
    assert "No diagnosis: the program fails: KeyError: 'loss'" in found.stdout
    assert "  before" in found.stderr
    assert "Traceback (most recent call last):" in found.stderr


def test_run_that_failed_is_made_again_in_the_next_diagnosis(programs, diagnosis):
    script = write(
        programs,
        """
    import pathlib

    runs = pathlib.Path("runs.txt")
    with runs.open("a") as file:
        file.write("x")
    assert not pathlib.Path("old.txt").exists(), "in the way"
    for number in range(20):
        str(number)
    """,
    )
    old = programs.write("old.txt", "")

    failed = diagnosis(script)
    old.unlink()
    second = diagnosis(script)
    third = diagnosis(script)

    assert "in the way" in failed.row("as it is")["says"]
    assert second.returncode == third.returncode == 0
    assert (programs.folder / "runs.txt").read_text() == "xx"


def test_program_that_writes_runs_in_copies_where_nobody_can_be_asked(programs):
    script = write(
        programs,
        """
    import pathlib

    for number in range(20):
        pathlib.Path("written.txt").write_text(str(number))
    """,
    )
    env = {**programs.env, "XDG_CACHE_HOME": str(programs.folder / "cache")}

    in_a_copy = programs.lowwater("diagnose", script, env=env)

    assert in_a_copy.returncode == 0
    assert "each run uses its own copy of this folder" in in_a_copy.stderr
    assert not (programs.folder / "written.txt").exists()

    here = programs.lowwater("diagnose", "--fresh", "--yes", script, env=env)

    assert here.stderr.startswith("warning: The program runs several times")
    assert (programs.folder / "written.txt").exists()


LEAKS = """
    kept = []
    for number in range(60):
        kept.append(bytearray(300_000))
        str(number)
"""
# None of them looks like writing.
UNNOTICED = """
    import os, pathlib, sqlite3, subprocess

    mode = "a"
    with open("log.txt", mode) as file:
        file.write("x")
    connection = sqlite3.connect("runs.db")
    connection.execute("create table if not exists t(a)")
    connection.close()
    subprocess.run("echo x >> by_a_shell.txt", shell=True, check=True)
    os.close(os.open("opened", os.O_CREAT | os.O_WRONLY))
"""


def test_further_runs_are_made_in_copies_once_one_is_seen_to_write(programs):
    script = write(programs, LEAKS, UNNOTICED)
    env = {**programs.env, "XDG_CACHE_HOME": str(programs.folder / "cache")}

    found = programs.lowwater("diagnose", script, env=env)

    assert found.returncode == 0
    [note] = [line for line in found.stderr.splitlines() if line.startswith("note:")]
    assert note == (
        "note: The program wrote 4 files (by_a_shell.txt, log.txt, opened, …). Each further run "
        "writes them again. This is not a terminal, so each run uses its own copy of this "
        "folder. Use --yes to run here."
    )
    assert "2 runs" in found.stdout
    assert (programs.folder / "log.txt").read_text() == "x"
    assert (programs.folder / "by_a_shell.txt").read_text() == "x\n"

    # The first run is kept, with what it wrote: the others are made here only if that is wanted.
    kept = next((programs.folder / "cache").rglob("cut*.lw"))
    kept.unlink()
    here = programs.lowwater("diagnose", "--yes", script, env=env)

    assert "warning: The program wrote 4 files" in here.stderr
    assert (programs.folder / "log.txt").read_text() == "xx"


def test_program_that_writes_nothing_is_run_here_without_a_word(programs):
    script = write(programs, LEAKS, "    import tempfile", "    tempfile.mkdtemp()")
    env = {**programs.env, "XDG_CACHE_HOME": str(programs.folder / "cache")}

    found = programs.lowwater("diagnose", script, env=env)

    assert "2 runs" in found.stdout
    assert "note:" not in found.stderr
    assert "warning:" not in found.stderr


def test_nothing_that_is_written_in_a_sandbox_gets_out_by_a_link(programs):
    (elsewhere := programs.folder / "elsewhere").mkdir()
    (elsewhere / "old.txt").write_text("old")
    work = programs.folder / "work"
    work.mkdir()
    (work / "data").symlink_to(elsewhere)
    programs.write(
        "work/train.py",
        """
    import os

    os.remove("data/old.txt")
    open("data/new.txt", "w").close()
    open(os.environ["PWD"] + "/here.txt", "w").close()
    open(os.path.join(os.path.dirname(__file__), "beside.txt"), "w").close()
    """,
    )
    env = {**programs.env, "XDG_CACHE_HOME": str(programs.folder / "cache"), "PWD": str(work)}

    for script in ("train.py", str(work / "train.py")):
        found = programs.lowwater("diagnose", "--sandbox", "--fresh", script, env=env, cwd=work)

        assert found.returncode == 0, found.stderr
        assert {*os.listdir(work)} == {"data", "train.py"}
        assert os.listdir(elsewhere) == ["old.txt"]


def test_writes_that_a_copy_does_not_hold_are_told(programs):
    (programs.folder / "work").mkdir()
    target = programs.folder / "model.h5"
    programs.write("work/train.py", f"{LEAKS}\n    open({str(target)!r}, 'w').close()\n")
    env = {**programs.env, "XDG_CACHE_HOME": str(programs.folder / "cache")}

    found = programs.lowwater(
        "diagnose", "--sandbox", "train.py", env=env, cwd=target.parent / "work"
    )

    assert (
        f"note: These files are outside this folder, so every run writes them again: {target}.\n"
    ) in found.stderr


def test_nobody_else_can_read_what_the_program_prints(programs):
    script = write(programs, "    print('secret')")
    old = programs.folder / "cache" / "lowwater" / "diagnose"
    old.mkdir(parents=True)
    old.chmod(0o755)
    env = {**programs.env, "XDG_CACHE_HOME": str(programs.folder / "cache")}

    found = programs.lowwater("diagnose", "--record", "kept.lw", script, env=env, umask=0)

    assert found.returncode == 0
    [output] = old.rglob("*.txt")
    assert output.read_text() == "secret\n"
    folders = (old.parent, old, output.parent)
    assert {path.stat().st_mode & 0o777 for path in folders} == {0o700}
    files = (*output.parent.iterdir(), programs.folder / "kept.lw")
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


STARTS_OTHERS = """
    import os, pathlib, subprocess, sys, time

    sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
    others = [subprocess.Popen(sleep), subprocess.Popen(sleep, **OPTIONS)]
    daemon = "import os, subprocess, sys; print(subprocess.Popen(sys.argv[1:], **OPTIONS).pid)"
    daemon = daemon.replace("**OPTIONS", "stdout=subprocess.DEVNULL, **OPTIONS")
    found = subprocess.run(
        [sys.executable, "-c", daemon, *sleep], stdout=subprocess.PIPE, check=True
    )
    pids = [os.getpid(), *(one.pid for one in others), int(found.stdout)]
    target = pathlib.Path(sys.argv[1])
    target.with_suffix(".part").write_text(" ".join(map(str, pids)))
    target.with_suffix(".part").rename(target)
"""


def wait_until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def is_alive(pid):
    """A zombie is not: who adopted it takes its time."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in {"Z", "X"}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
# Alone, or with its group, as terminals and job schedulers do it.
@pytest.mark.parametrize("send", [os.kill, os.killpg])
def test_diagnosis_that_is_stopped_leaves_no_process(programs, number, send):
    # Who is killed has no time: what left its session in the last second may be overlooked.
    options = "{}" if number == signal.SIGKILL else "{'start_new_session': True}"
    source = STARTS_OTHERS.replace("OPTIONS", options)
    script = write(programs, source, "    time.sleep(600)")
    env = {**programs.env, "XDG_CACHE_HOME": str(programs.folder / "cache")}
    pids = programs.folder / "pids"
    diagnosis = subprocess.Popen(
        [sys.executable, "-m", "lowwater", "diagnose", "--sandbox", script, str(pids)],
        cwd=programs.folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with diagnosis:
        wait_until(pids.exists)
        send(diagnosis.pid, number)
        # The end of its output: nothing that it has left holds it open.
        _, stderr = diagnosis.communicate(timeout=60)

    assert diagnosis.returncode == (-number if number == signal.SIGKILL else 130)
    assert ("Interrupted." in stderr) == (number != signal.SIGKILL)
    assert "Traceback" not in stderr
    wait_until(lambda: not any(map(is_alive, pids.read_text().split())))


def test_finished_run_leaves_no_process_and_is_not_ended_before_its_time(programs, diagnosis):
    source = STARTS_OTHERS.replace("OPTIONS", "{'start_new_session': True}")
    pids = programs.folder / "pids"

    found = diagnosis("--sandbox", write(programs, source, "    print('done')"), str(pids))

    assert found.returncode == 0
    assert not any(map(is_alive, pids.read_text().split()))
    [output] = (programs.folder / "cache").rglob("*.txt")
    assert output.read_text() == "done\n"


def test_run_that_does_not_end_is_ended_with_the_budget(programs, diagnosis):
    script = write(programs, "    import time", "    time.sleep(600)")

    found = diagnosis("--budget", "2 s", script)

    assert found.returncode == 0
    assert found.row("as it is")["says"].startswith("the run was ended")
    assert "No diagnosis: the run was ended because no time was left (--budget)." in found.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.py"], "missing.py"),
        (["."], "."),
        (["--budget", "soon", "train.py"], "soon"),
        (["--budget", "-3 s", "train.py"], "-3 s"),
        (["--epochs", "0", "train.py"], "--epochs"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(programs, diagnosis, arguments, said):
    programs.write("train.py", "open('ran', 'w').close()\n")

    found = diagnosis(*arguments)

    assert found.returncode == 2
    assert found.stderr.startswith("error:")
    assert said in found.stderr
    assert "Traceback" not in found.stderr
    assert not (programs.folder / "ran").exists()


def test_ctrl_c_at_the_terminal_ends_the_diagnosis_at_once(programs):
    # It would not end by itself: nobody asks it to.
    stubborn = "    signal.signal(signal.SIGINT, signal.SIG_IGN)"
    source = STARTS_OTHERS.replace("OPTIONS", "{'start_new_session': True}")
    script = write(programs, source, "    import signal", stubborn, "    time.sleep(600)")
    env = {**programs.env, "XDG_CACHE_HOME": str(programs.folder / "cache"), "TERM": "xterm"}
    pids = programs.folder / "pids"
    arguments = ["-m", "lowwater", "diagnose", "--sandbox", script, str(pids)]
    terminal = pexpect.spawn(
        sys.executable, arguments, cwd=programs.folder, env=env, dimensions=(24, 120), timeout=60
    )

    wait_until(pids.exists)
    terminal.sendintr()
    terminal.expect_exact("Interrupted.")
    terminal.expect(pexpect.EOF)
    terminal.close()

    assert terminal.exitstatus == 130
    assert not any(map(is_alive, pids.read_text().split()))


def test_question_is_asked_on_a_terminal_before_the_second_run(programs):
    script = write(programs, LEAKS, UNNOTICED)
    env = {**programs.env, "XDG_CACHE_HOME": str(programs.folder / "cache"), "TERM": "xterm"}
    arguments = ["-m", "lowwater", "diagnose", script]
    terminal = pexpect.spawn(
        sys.executable, arguments, cwd=programs.folder, env=env, dimensions=(24, 300), timeout=120
    )

    terminal.expect_exact("The program wrote 4 files (by_a_shell.txt, log.txt, opened")
    terminal.expect_exact("Continue in this folder? [y/N]:")
    terminal.sendline("n")
    terminal.expect_exact("error: stopped after the first run. Try: lowwater diagnose --sandbox")
    terminal.expect(pexpect.EOF)
    terminal.close()

    assert terminal.exitstatus == 2
    assert (programs.folder / "log.txt").read_text() == "x"
