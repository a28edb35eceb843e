"""Calls run in fresh processes; what can go wrong with a process is a clear error here."""

import functools
import io
import logging
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

import lowwater
from lowwater.errors import (
    ChildDied,
    ChildOutOfMemory,
    ChildTimedOut,
    NotPicklable,
    UsageError,
)
from lowwater.isolation.call import packed
from lowwater.isolation.limits import Limits
from lowwater.isolation.local import engine
from lowwater.isolation.local import server as server_module
from lowwater.isolation.local.channel import Channel
from lowwater.isolation.local.memory_limit import ControlGroup, Watch
from lowwater.isolation.local.result import value_of
from lowwater.isolation.local.server import Server
from lowwater.isolation.order import TrialOrder
from lowwater.isolation.surroundings import Surroundings

SLEEP = [sys.executable, "-c", "import time; time.sleep(100)"]


def double(number):
    return 2 * number


def is_gone(process):
    """Whether the process has ended; one that is dead and not yet buried has."""
    try:
        return psutil.Process(process).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def run_script(folder, source, **options):
    script = folder / "script.py"
    script.write_text(textwrap.dedent(source))
    return subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=folder,
        **options,
    )


@contextmanager
def server():
    """A fork of this process, which has its patches."""
    here, there = Channel.pair()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if process == 0:
        try:
            here.close()
            Server(there).serve()
        finally:
            os._exit(1)
    there.close()
    with here:
        yield SimpleNamespace(ask=lambda wanted, ends: here.send("fork", wanted, ends))
    os.waitpid(process, 0)


@pytest.fixture
def server_without_groups(monkeypatch):
    """A server that may not make control groups, as for most users."""
    monkeypatch.setattr(ControlGroup, "make", lambda limit_bytes: None)
    with server() as one:
        yield one


@pytest.fixture
def server_that_cannot_fork(monkeypatch):
    """A server of a user who has as many processes as are allowed."""

    def refuses():
        raise BlockingIOError(11, "no more")

    monkeypatch.setattr(server_module, "os", SimpleNamespace(**{**vars(os), "fork": refuses}))
    with server() as one:
        yield one


class TestCall:
    def test_value_comes_from_another_process(self):
        assert lowwater.isolated(os.getpid)() != os.getpid()

    def test_every_call_has_a_process_of_its_own(self):
        pid = lowwater.isolated(os.getpid)

        assert pid() != pid()

    def test_decorator_with_limits_keeps_name_and_documentation(self):
        @lowwater.isolated(timeout="1 min", memory="4 GiB")
        def trial(units):
            """Train once."""
            return units + 1

        assert (trial.__name__, trial.__doc__, trial(1)) == ("trial", "Train once.", 2)

    def test_closures_and_lambdas_can_be_sent(self):
        offset = np.arange(3)

        assert lowwater.isolated(lambda number: (offset + number).tolist())(1) == [1, 2, 3]

    def test_method_is_called_with_its_object(self):
        class Study:
            rate = 3

            @lowwater.isolated
            def trial(self, units):
                return self.rate * units

        assert Study().trial(2) == 6

    def test_method_has_its_limits_and_its_story(self):
        class Study:
            rate = 3

            @lowwater.isolated(timeout="1 min")
            def trial(self, units, more=0):
                return self.rate * units + more

        study = Study()

        assert study.trial.run(2).value == 6
        assert study.trial.memory.peak_bytes > 0
        assert study.trial.limits.timeout_s == 60
        assert lowwater.map(study.trial, [1, (2, 3)]) == [3, 9]

    def test_partials_and_objects_that_can_be_called_are_functions(self):
        class Scaled:
            def __call__(self, number):
                return 10 * number

        assert lowwater.isolated(functools.partial(pow, 2))(3) == 8
        assert lowwater.isolated(Scaled())(3) == 30

    def test_decorator_around_it_is_not_left_out(self):
        def negative(function):
            @functools.wraps(function)
            def wrapper(*args):
                return -function(*args)

            return wrapper

        trial = negative(lowwater.isolated(double))

        assert (trial(2), lowwater.map(trial, [2])) == (-4, [-4])

    def test_class_of_the_program_comes_back_as_the_same_class(self):
        class Score:
            def __init__(self, value):
                self.value = value

        score = lowwater.isolated(lambda: Score(0.5))()

        assert type(score) is Score

    def test_folder_arguments_and_environment_are_the_callers(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("TRIAL", "7")
        monkeypatch.setattr(sys, "argv", ["train.py", "--fast"])

        @lowwater.isolated
        def seen():
            return os.getcwd(), os.environ["TRIAL"], sys.argv

        assert seen() == (str(tmp_path), "7", ["train.py", "--fast"])

    def test_variable_that_is_gone_here_is_gone_there(self, monkeypatch):
        monkeypatch.setenv("TRIAL", "7")
        lowwater.isolated(double)(1)
        monkeypatch.delenv("TRIAL")

        assert lowwater.isolated(lambda: os.environ.get("TRIAL"))() is None

    def test_chance_differs_from_child_to_child(self):
        @lowwater.isolated
        def chance():
            return random.random(), float(np.random.rand())  # noqa: NPY002 - the global state

        (first, second), (third, fourth) = chance(), chance()

        assert first != third
        assert second != fourth

    def test_one_isolated_call_may_make_another(self):
        inner = lowwater.isolated(double)

        assert lowwater.isolated(lambda: inner(4))() == 8

    def test_large_array_comes_back_and_can_be_changed(self):
        array = lowwater.isolated(lambda: np.ones((512, 1024)))()

        array[0, 0] = 5

        assert array.sum() == 512 * 1024 + 4

    def test_argument_that_the_child_changes_stays_as_it_was(self):
        array = np.zeros((512, 1024))

        def fill(given):
            given[:] = 1
            return given.sum()

        assert lowwater.isolated(fill)(array) == 512 * 1024
        assert array.sum() == 0

    def test_calls_from_several_threads_do_not_meet(self):
        found = {}
        trial = lowwater.isolated(double)

        def call(number):
            found[number] = trial(number)

        threads = [threading.Thread(target=call, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert found == {number: 2 * number for number in range(8)}

    def test_started_by_spawn_where_asked_for(self):
        outcome = lowwater.isolated(double, start="spawn").run(3)

        assert (outcome.value, outcome.started) == (6, "spawn: requested")

    def test_module_beside_the_script_is_found(self, tmp_path):
        (tmp_path / "trials.py").write_text(
            "import lowwater\n@lowwater.isolated\ndef trial(number):\n    return number + 1\n"
        )

        done = run_script(tmp_path, "from trials import trial\nprint(trial(1))\n")

        assert (done.stdout, done.stderr) == ("2\n", "")

    def test_function_of_a_module_that_nobody_finds_again_is_sent_whole(self, tmp_path):
        (tmp_path / "hidden.py").write_text(
            "FACTOR = 3\ndef trial(number):\n    return FACTOR * number\n"
        )

        done = run_script(
            tmp_path,
            """\
            import importlib.util, sys, lowwater
            spec = importlib.util.spec_from_file_location("odd_name", "hidden.py")
            module = sys.modules["odd_name"] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            print(lowwater.isolated(module.trial)(2))
            print(lowwater.isolated(lambda trial: trial(3))(module.trial))
            """,
        )

        assert (done.stdout, done.stderr) == ("6\n9\n", "")

    def test_plain_pickle_knows_the_classes_of_the_script(self, tmp_path):
        done = run_script(
            tmp_path,
            """\
            import pickle, lowwater

            class Score:
                value = 3

            @lowwater.isolated
            def trial():
                return pickle.loads(pickle.dumps(Score())).value

            print(trial())
            """,
        )

        assert (done.stdout, done.stderr) == ("3\n", "")


class TestOutput:
    def test_prints_of_a_script_stay_in_order(self, tmp_path):
        done = run_script(
            tmp_path,
            """\
            import os, sys, lowwater

            @lowwater.isolated
            def trial():
                print("inside")
                print("aside", file=sys.stderr)
                os.write(1, b"from below\\n")

            print("before")
            trial()
            print("after")
            """,
        )

        assert done.stdout == "before\ninside\nfrom below\nafter\n"
        assert done.stderr == "aside\n"

    def test_prints_reach_what_stands_in_the_place_of_stdout(self):
        with redirect_stdout(io.StringIO()) as shown:
            lowwater.isolated(lambda: print("épochs ✓"))()  # noqa: T201

        assert shown.getvalue() == "épochs ✓\n"

    def test_prints_come_while_it_runs(self, tmp_path):
        seen = tmp_path / "seen"

        class Stream(io.StringIO):
            def write(self, text):
                seen.touch()
                return super().write(text)

        def waits_until_it_is_seen():
            print("first", flush=True)  # noqa: T201
            while not seen.exists():
                time.sleep(0.01)

        with redirect_stdout(Stream()) as shown:
            # It would be killed by its time-out if nothing came before its end.
            lowwater.isolated(waits_until_it_is_seen, timeout="60 s")()

        assert shown.getvalue() == "first\n"

    def test_stream_that_can_only_be_written_to_has_the_output(self):
        written = []

        with redirect_stdout(SimpleNamespace(write=written.append)):
            lowwater.isolated(print)("hello")

        assert "".join(written) == "hello\n"

    def test_log_records_reach_the_handlers_here(self, caplog):
        def work():
            logging.getLogger("trial.deep").warning("loss is %s", float("nan"))
            logging.getLogger("trial.deep").debug("unseen")

        with caplog.at_level(logging.INFO):
            lowwater.isolated(work)()

        assert [(one.name, one.getMessage()) for one in caplog.records] == [
            ("trial.deep", "loss is nan")
        ]

    def test_log_record_longer_than_a_message_arrives_whole(self, caplog):
        lowwater.isolated(lambda: logging.getLogger("trial").warning("x" * 1_000_000))()

        [record] = caplog.records
        assert record.getMessage() == "x" * 1_000_000

    def test_log_record_arrives_without_what_cannot_be_sent(self, caplog):
        def trial():
            extra = {"lock": threading.Lock(), "epoch": 3}
            logging.getLogger("trial").warning("loss is %s", 1.5, extra=extra)

        lowwater.isolated(trial)()

        [record] = caplog.records
        assert (record.getMessage(), record.epoch) == ("loss is 1.5", 3)
        assert not hasattr(record, "lock")

    def test_logger_with_a_handler_of_its_own_says_everything_once(self, tmp_path):
        (tmp_path / "package.py").write_text(
            textwrap.dedent("""
                import logging

                for name, goes_up in (("package.up", True), ("package.alone", False)):
                    logger = logging.getLogger(name)
                    logger.addHandler(logging.StreamHandler())
                    logger.propagate = goes_up

                def trial():
                    for name in ("package.up", "package.alone"):
                        logging.getLogger(name).warning(name)
            """)
        )
        source = """
            import lowwater, package

            lowwater.isolated(package.trial)()
        """

        done = run_script(tmp_path, source)

        assert done.stderr.splitlines() == ["package.up", "package.alone"]

    def test_function_may_set_up_the_logging_that_the_program_has_not(self, tmp_path):
        source = """
            import logging, lowwater

            def trial():
                logging.basicConfig(level=logging.INFO, format="trial: %(message)s")
                logging.info("begins")

            lowwater.isolated(trial)()
        """

        done = run_script(tmp_path, source)

        assert done.stderr.splitlines() == ["trial: begins"]

    def test_record_that_nobody_handles_is_told_as_here(self, tmp_path):
        source = """
            import logging, lowwater

            def trial():
                logging.getLogger("trial").warning("loss is high")
                logging.getLogger("trial").info("unseen")

            lowwater.isolated(trial)()
        """

        done = run_script(tmp_path, source)

        assert done.stderr.splitlines() == ["loss is high"]


class TestFaults:
    def test_exception_arrives_with_its_type_and_the_childs_traceback(self):
        def trial(units):
            return {}[units]

        with pytest.raises(KeyError, match="64") as caught:
            lowwater.isolated(trial)(64)

        told = str(caught.value.__cause__)
        assert "return {}[units]" in told
        assert "lowwater" not in told.replace(__file__, "")

    def test_exception_class_of_the_program_is_the_same_class(self):
        class Diverged(Exception):
            pass

        def trial():
            raise Diverged("at step 3")

        with pytest.raises(Diverged, match="at step 3"):
            lowwater.isolated(trial)()

    def test_exception_with_a_constructor_of_its_own_is_the_same_class(self):
        class Diverged(Exception):
            def __init__(self, step, loss):
                super().__init__(f"at step {step}")
                self.loss = loss

        def trial():
            raise Diverged(3, loss=float("inf"))

        with pytest.raises(Diverged, match="at step 3") as caught:
            lowwater.isolated(trial)()
        assert caught.value.loss == float("inf")
        assert "raise Diverged" in str(caught.value.__cause__)

    def test_exception_that_cannot_even_say_what_it_is_is_told(self):
        class Odd(Exception):
            def __str__(self):
                raise ValueError("no words")

        def trial():
            error = Odd()
            error.lock = threading.Lock()
            raise error

        with pytest.raises(ChildDied, match=r"raised .*Odd: <exception str\(\) failed>"):
            lowwater.isolated(trial)()

    def test_exception_that_cannot_be_sent_is_told(self):
        class Odd(Exception):
            def __init__(self):
                super().__init__("odd one")
                self.lock = threading.Lock()

        def trial():
            raise Odd

        with pytest.raises(ChildDied, match=r"raised .*Odd: odd one") as caught:
            lowwater.isolated(trial)()
        assert "raise Odd" in str(caught.value.__cause__)

    def test_result_that_cannot_be_sent_is_named(self):
        with pytest.raises(NotPicklable, match=r"The function's return value .*a lock"):
            lowwater.isolated(threading.Lock)()

    def test_exit_of_the_child_is_not_the_end_of_the_caller(self):
        with pytest.raises(ChildDied, match=r"sys.exit\(7\)"):
            lowwater.isolated(sys.exit)(7)

    def test_process_that_ends_without_a_word(self):
        with pytest.raises(ChildDied, match="exit code 3 before it returned"):
            lowwater.isolated(os._exit)(3)

    def test_crash_in_native_code(self):
        def crash():
            os.kill(os.getpid(), signal.SIGSEGV)

        with pytest.raises(ChildDied, match="ended by SIGSEGV"):
            lowwater.isolated(crash)()

    def test_signal_without_a_name(self):
        with pytest.raises(ChildDied, match="ended by signal 40;"):
            lowwater.isolated(lambda: os.kill(os.getpid(), 40))()

    def test_killed_by_somebody_else(self):
        with pytest.raises(ChildDied, match=r"killed \(SIGKILL\) from outside"):
            lowwater.isolated(lambda: os.kill(os.getpid(), signal.SIGKILL))()

    def test_process_that_python_would_wait_for_is_killed(self, tmp_path):
        begun, finished = tmp_path / "begun", tmp_path / "finished"

        def works_on():
            begun.touch()
            time.sleep(10)
            finished.touch()

        def trial():
            multiprocessing.get_context("fork").Process(target=works_on).start()
            while not begun.exists():
                time.sleep(0.01)

        lowwater.isolated(trial)()

        assert not finished.exists()

    def test_folder_that_cannot_be_entered_is_told(self):
        elsewhere = replace(Surroundings.here(), folder="/not/there")

        raw = engine.run(TrialOrder(packed(double, (1,), {}), surroundings=elsewhere))

        with pytest.raises(FileNotFoundError, match="/not/there"):
            value_of(raw.result)

    def test_folder_that_one_stands_in_is_not_entered_again(self, monkeypatch):
        entered = []
        monkeypatch.setattr(os, "chdir", entered.append)

        Surroundings.here().apply()

        assert entered == []

    def test_without_the_standard_streams_and_a_place_for_files(self, tmp_path):
        source = """
            import os, tempfile
            os.closerange(0, 3)
            tempfile.tempdir = "/not/there"
            import lowwater
            with open("told", "w") as file:
                file.write(str(lowwater.isolated(pow)(2, 3)))
        """

        run_script(tmp_path, source)

        assert (tmp_path / "told").read_text() == "8"

    def test_process_that_cannot_be_started_is_told(self, server_that_cannot_fork):
        raw = engine._LocalTrial(TrialOrder(packed(double, (4,), {}))).run(server_that_cannot_fork)

        assert str(raw.error) == "Could not start a process: [Errno 11] no more"

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
    def test_server_that_is_ended_takes_the_whole_tree_with_it(self, tmp_path, number):
        pid = tmp_path / "pid"

        def trial():
            pid.write_text(str(subprocess.Popen(SLEEP).pid))
            os.kill(os.getppid(), number)
            time.sleep(100)

        with pytest.raises(ChildDied):
            lowwater.isolated(trial, timeout="60 s")()

        left = int(pid.read_text())
        for _ in range(500):  # the kernel may take a moment
            if is_gone(left):
                return
            time.sleep(0.01)
        pytest.fail("it lives on")

    def test_copy_that_the_function_makes_of_itself_does_not_answer_for_it(self):
        def trial():
            if os.fork() == 0:
                return "copy"
            os.wait()
            os._exit(3)

        with pytest.raises(ChildDied, match="exit code 3 before it returned"):
            lowwater.isolated(trial)()

    def test_time_out_kills_the_whole_tree(self, tmp_path):
        pids = tmp_path / "pids"

        def trial():
            # The second one leaves the group and the session of its parent.
            for options in ({}, {"start_new_session": True}):
                child = subprocess.Popen(SLEEP, **options)
                with pids.open("a") as file:
                    file.write(f"{child.pid} ")
            time.sleep(100)

        with pytest.raises(ChildTimedOut, match=r"did not return within 2\.0 s"):
            lowwater.isolated(trial, timeout="2 s")()

        found = [int(pid) for pid in pids.read_text().split()]
        assert len(found) == 2
        assert all(is_gone(pid) for pid in found)

    def test_process_left_behind_is_gone_when_the_call_returns(self):
        def trial():
            return subprocess.Popen(SLEEP, start_new_session=True).pid

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            left = lowwater.isolated(trial)()

        assert is_gone(left)

    def test_server_that_dies_is_started_again(self):
        trial = lowwater.isolated(double)
        trial(1)
        [server] = psutil.Process(engine._forking.get().pid).children()
        server.kill()

        assert trial(2) == 4

    def test_server_that_dies_under_a_trial_is_told(self):
        def trial():
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(100)

        with pytest.raises(ChildDied, match="The process that starts trials failed"):
            lowwater.isolated(trial)()
        assert engine._forking.get().why_unsafe() is None

    def test_server_and_trials_end_when_the_caller_is_killed(self, tmp_path):
        script = tmp_path / "script.py"
        script.write_text(
            textwrap.dedent("""\
            import os, time, lowwater
            @lowwater.isolated
            def trial():
                print(os.getpid(), os.getppid(), flush=True)
                time.sleep(100)
            trial()
            """)
        )
        caller = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
        child, server = map(int, caller.stdout.readline().split())

        caller.kill()
        caller.wait()
        caller.stdout.close()

        deadline = time.monotonic() + 20
        while not (is_gone(child) and is_gone(server)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert (is_gone(child), is_gone(server)) == (True, True)

    def test_interrupt_leaves_no_process_behind(self, tmp_path):
        script = tmp_path / "script.py"
        script.write_text(
            textwrap.dedent("""\
            import os, time, lowwater
            def trial(number):
                print(os.getpid(), flush=True)
                time.sleep(100)
            lowwater.map(trial, [1, 2, 3], workers=2)
            """)
        )
        caller = subprocess.Popen(
            [sys.executable, str(script)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        children = [int(caller.stdout.readline()) for _ in range(2)]

        caller.send_signal(signal.SIGINT)
        _, errors = caller.communicate(timeout=30)

        assert errors.rstrip().endswith("KeyboardInterrupt")
        assert all(is_gone(child) for child in children)

    def test_forked_copy_of_the_caller_starts_a_server_of_its_own(self):
        trial = lowwater.isolated(double)
        trial(1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            copy = os.fork()
        if copy == 0:
            status = 1
            try:
                status = 0 if trial(5) == 10 else 2
            finally:
                os._exit(status)
        _, status = os.waitpid(copy, 0)

        assert status == 0
        assert trial(2) == 4


class TestMemory:
    def test_child_above_its_limit_is_told_with_peak_and_limit(self):
        def greedy():
            return np.ones(400 << 20, dtype="uint8").sum()

        with pytest.raises(ChildOutOfMemory, match=r"limit is memory='200.0 MiB'") as caught:
            lowwater.isolated(greedy, memory="200 MiB")()

        assert caught.value.limit_bytes == 200 << 20
        assert caught.value.peak_bytes > 100 << 20

    def test_watching_holds_the_limit_where_the_kernel_cannot(self, monkeypatch):
        watch = Watch(200 << 20)
        child = subprocess.Popen(
            [sys.executable, "-c", "kept = []\nwhile True: kept.append(bytearray(1 << 20))"]
        )
        try:
            deadline = time.monotonic() + 30
            while not watch.exceeded([child.pid]) and time.monotonic() < deadline:
                time.sleep(0.01)
        finally:
            child.kill()
            child.wait()

        assert watch.was_met()
        assert watch.peak_bytes() > 200 << 20

    def test_child_that_is_watched_is_killed_above_its_limit(self, server_without_groups):
        def greedy():
            kept = []
            while True:
                kept.append(bytearray(1 << 20))

        order = TrialOrder(packed(greedy, (), {}), Limits.of(memory="200 MiB"))
        raw = engine._LocalTrial(order).run(server_without_groups)

        assert isinstance(raw.error, ChildOutOfMemory)
        assert raw.error.peak_bytes > 200 << 20
        assert raw.story["limited_by"] == Watch.name

    def test_child_that_is_watched_and_stays_below_returns(self, server_without_groups):
        # The server is forked from the process of all these tests, and begins as large as that.
        limit = f"{psutil.Process().memory_info().rss + (200 << 20)} B"
        order = TrialOrder(packed(double, (4,), {}), Limits.of(memory=limit))
        raw = engine._LocalTrial(order).run(server_without_groups)

        assert value_of(raw.result) == 8

    def test_processes_of_the_child_count(self):
        def trial():
            program = "import time; kept = bytearray(b'x' * (300 << 20)); time.sleep(100)"
            subprocess.run([sys.executable, "-c", program], check=False)

        with pytest.raises(ChildOutOfMemory):
            lowwater.isolated(trial, memory="200 MiB", timeout="60 s")()

    def test_child_below_its_limit_returns(self):
        outcome = lowwater.isolated(double, memory="2 GiB").run(2)

        assert outcome.value == 4
        assert outcome.memory.limit_bytes == 2 << 30
        assert outcome.memory.limited_by in {ControlGroup.name, Watch.name}

    def test_story_tells_the_peak_and_the_end(self):
        def trial():
            np.ones(100 << 20, dtype="uint8")
            return 1

        story = lowwater.isolated(trial).run().memory

        assert story.peak_bytes > 100 << 20
        assert story.resident_bytes < story.peak_bytes

    def test_latest_story_stands_on_the_function(self):
        trial = lowwater.isolated(double)

        trial(1)

        assert trial.memory.peak_bytes > 0

    def test_two_hundred_trials_leave_nothing_in_the_caller(self, tmp_path):
        done = run_script(
            tmp_path,
            """\
            import os, psutil, lowwater
            from lowwater.probes.levels import levels_now
            trial = lowwater.isolated(lambda number: [number] * 10)
            for number in range(5):
                trial(number)
            me = psutil.Process()
            before, files = levels_now().in_use_bytes, me.num_fds()
            for number in range(200):
                trial(number)
            print(levels_now().in_use_bytes - before, me.num_fds() - files)
            below = [one.status() for one in me.children(recursive=True)]
            print(len(below), below.count(psutil.STATUS_ZOMBIE))
            """,
        )

        grown, files = map(int, done.stdout.splitlines()[0].split())
        assert grown < 2_000_000
        assert files == 0
        assert done.stdout.splitlines()[1] == "2 0"  # the server with its keeper, and no zombie


class TestBadInput:
    def test_what_is_not_a_function_is_refused(self):
        with pytest.raises(UsageError, match="isolated\\(\\) decorates a function"):
            lowwater.isolated(3)

    def test_unknown_engine_is_refused(self):
        with pytest.raises(UsageError, match="unknown engine"):
            lowwater.isolated(double, engine="dask")

    def test_unknown_option_is_refused_with_those_there_are(self):
        with pytest.raises(UsageError, match=r"received: num_gpus.*start=, preload="):
            lowwater.isolated(double, num_gpus=1)


class TestUnderWatch:
    """`lowwater run` of a program that isolates its trials."""

    def test_children_run_unwatched_and_the_program_is_flat(self, programs):
        programs.write(
            "train.py",
            """\
            import lowwater

            def trial(number):
                kept = []
                for step in range(3):
                    kept.append(bytearray(1 << 20))
                return number

            for number in range(12):
                lowwater.isolated(trial)(number)
            """,
        )

        run = programs.watch("train.py")

        assert (run.returncode, run.report["verdict"]["is_leak"]) == (0, False)
        assert {unit["unit"] for unit in run.report["units"]} == {"iteration"}

    def test_results_that_are_kept_are_named(self, programs):
        programs.write(
            "train.py",
            """\
            import lowwater, numpy as np
            trial = lowwater.isolated(lambda number: np.full(1 << 19, float(number)))
            kept = []
            for number in range(14):
                kept.append(trial(number))
            """,
        )

        run = programs.watch("train.py")

        assert run.kind == "leak"
        assert run.growth == pytest.approx(4 << 20, rel=0.1)
        [finding] = run.report["findings"]
        assert (finding["code"], finding["where"]) == ("LW102", "train.py:5")
