"""Isolated calls from the cells of a real Jupyter kernel."""

import textwrap
from queue import Empty

import jupyter_client
import pytest

LONGEST_S = 120


@pytest.fixture
def cell(tmp_path):
    """Runs a cell, and gives back what it shows: printed text and the last error."""
    manager = jupyter_client.KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(tmp_path))
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=LONGEST_S)
        yield lambda source: _run(client, textwrap.dedent(source))
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()


def _run(client, source):
    asked = client.execute(source)
    shown = {"stdout": "", "stderr": "", "error": ""}
    while True:
        try:
            message = client.get_iopub_msg(timeout=LONGEST_S)
        except Empty:
            pytest.fail(f"the cell did not end: {source}")
        if message["parent_header"].get("msg_id") != asked:
            continue
        content = message["content"]
        if message["msg_type"] == "stream":
            shown[content["name"]] += content["text"]
        elif message["msg_type"] == "error":
            shown["error"] = "\n".join(content["traceback"])
        elif message["msg_type"] == "status" and content["execution_state"] == "idle":
            return shown


def test_function_of_a_cell_runs_in_a_process_of_its_own(cell):
    shown = cell("""\
        import os, lowwater
        factor = 3

        @lowwater.isolated
        def trial(number):
            print("inside", os.getpid() != parent)
            return factor * number

        parent = os.getpid()
        print(trial(2))
    """)

    assert shown == {"stdout": "inside True\n6\n", "stderr": "", "error": ""}


def test_error_shows_the_line_of_the_cell(cell):
    shown = cell("""\
        import lowwater

        def trial(number):
            return 1 / number

        lowwater.isolated(trial)(0)
    """)

    assert "ZeroDivisionError" in shown["error"]
    assert "return 1 / number" in shown["error"]


def test_map_of_a_cell_shows_what_its_trials_print(cell):
    shown = cell("""\
        import lowwater

        def trial(number):
            print("trial", number)
            return number ** 2

        print(lowwater.map(trial, [1, 2, 3], progress=False))
    """)

    assert shown["error"] == ""
    assert shown["stdout"].endswith("[1, 4, 9]\n")
    assert shown["stdout"].count("trial") == 3


def test_interrupted_cell_leaves_the_kernel_in_order(cell):
    shown = cell("""\
        import lowwater, os, signal, threading, time

        def interrupt():
            os.kill(os.getpid(), signal.SIGINT)

        def trial():
            time.sleep(100)

        threading.Timer(1.0, interrupt).start()
        lowwater.isolated(trial)()
    """)
    after = cell("print(lowwater.isolated(lambda: 5)())")

    assert "KeyboardInterrupt" in shown["error"]
    assert after["stdout"] == "5\n"


@pytest.mark.tensorflow
def test_tf_function_of_a_cell_is_traced_with_its_source(cell):
    shown = cell("""\
        import tensorflow as tf, lowwater

        @tf.function
        def clipped(value):
            if value > 1.0:
                value = tf.constant(1.0)
            return value

        @lowwater.isolated
        def trial():
            return float(clipped(tf.constant(3.0)))

        print(trial())
    """)

    assert (shown["stdout"], shown["error"]) == ("1.0\n", "")
