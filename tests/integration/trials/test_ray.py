"""The same contract on a real Ray cluster of two nodes."""

import logging
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

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

pytestmark = [
    pytest.mark.trials,
    pytest.mark.xdist_group("ray"),
    # Ray's own, on its way in and out.
    pytest.mark.filterwarnings("default"),
]


@pytest.fixture(scope="module")
def cluster():
    """Two nodes with one core each; the second one pretends to have a GPU, and is special."""
    import ray
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    made.add_node(num_cpus=1, num_gpus=1, resources={"special": 1})
    ray.init(address=made.address, logging_level="ERROR", log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def on_ray(cluster):
    def decorate(function, **options):
        return lowwater.isolated(function, engine="ray", **options)

    return decorate


def is_gone(process):
    try:
        return psutil.Process(process).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def await_(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


class TestCalls:
    def test_results_are_in_the_order_of_the_configurations(self, cluster):
        results = lowwater.map(lambda number: 2 * number, [3, 1, 2, 5], engine="ray")

        assert results == [6, 2, 4, 10]
        assert all(outcome.started.startswith("fork on ") for outcome in results.outcomes)
        assert all(outcome.memory.peak_bytes > 0 for outcome in results.outcomes)

    def test_every_call_has_a_process_of_its_own(self, on_ray):
        pid = on_ray(os.getpid)

        assert len({pid(), pid(), os.getpid()}) == 3

    def test_large_arrays_travel_both_ways_and_can_be_changed(self, on_ray):
        given = np.arange(1 << 19, dtype="float64")

        def changed(array):
            array += 1
            return array

        array = on_ray(changed)(given)
        array[0] = 5

        assert array.sum() == given.sum() + given.size + 4
        assert given[0] == 0

    def test_folder_arguments_and_environment_are_the_callers(self, on_ray, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("TRIAL", "7")
        monkeypatch.setattr(sys, "argv", ["train.py", "--fast"])

        seen = on_ray(lambda: (os.getcwd(), os.environ["TRIAL"], sys.argv))()

        assert seen == (str(tmp_path), "7", ["train.py", "--fast"])

    def test_settings_that_frameworks_read_at_import_are_the_callers(self, on_ray, monkeypatch):
        server = on_ray(os.getppid)
        first = server()
        monkeypatch.setenv("KERAS_BACKEND", "jax")

        second, seen = on_ray(lambda: (os.getppid(), os.environ["KERAS_BACKEND"]))()

        assert (first != second, seen) == (True, "jax")

    def test_next_call_is_made_by_the_same_server(self, on_ray):
        server = on_ray(os.getppid)

        assert server() == server()

    def test_module_that_is_named_is_imported_once_for_all(self, on_ray):
        assert on_ray(lambda: "colorsys" in sys.modules, preload=["colorsys"])()

    def test_prints_and_log_records_arrive(self, on_ray, capsys, caplog):
        def work():
            print("épochs ✓")  # noqa: T201
            os.write(2, b"from below\n")
            logging.getLogger("trial.deep").warning("loss is %s", float("nan"))
            logging.getLogger("trial.deep").debug("unseen")

        with caplog.at_level(logging.INFO):
            on_ray(work)()

        shown = capsys.readouterr()
        assert (shown.out, shown.err) == ("épochs ✓\n", "from below\n")
        assert [one.getMessage() for one in caplog.records] == ["loss is nan"]

    def test_prints_come_while_it_runs(self, on_ray, tmp_path, monkeypatch):
        class Stream:
            def write(self, text):
                (tmp_path / "seen").touch()

            def flush(self):
                pass

        def waits_until_it_is_seen():
            print("first", flush=True)  # noqa: T201
            while not (tmp_path / "seen").exists():
                time.sleep(0.01)

        monkeypatch.setattr(sys, "stdout", Stream())

        on_ray(waits_until_it_is_seen, timeout="60 s")()


class TestFaults:
    def test_exception_arrives_with_its_type_and_the_childs_traceback(self, on_ray):
        with pytest.raises(KeyError, match="64") as caught:
            on_ray(lambda units: {}[units])(64)

        assert "{}[units]" in str(caught.value.__cause__)

    def test_child_above_its_limit_is_told_with_peak_and_limit(self, on_ray):
        def greedy():
            return np.ones(400 << 20, dtype="uint8").sum()

        with pytest.raises(ChildOutOfMemory, match=r"limit is memory='200.0 MiB'") as caught:
            on_ray(greedy, memory="200 MiB")()

        assert caught.value.limit_bytes == 200 << 20

    def test_time_out_kills(self, on_ray, tmp_path):
        def slow():
            (tmp_path / "pid").write_text(str(os.getpid()))
            time.sleep(100)

        with pytest.raises(ChildTimedOut, match=r"did not return within 1\.0 s"):
            on_ray(slow, timeout="1 s")()
        assert is_gone(int((tmp_path / "pid").read_text()))

    def test_crash_is_told(self, on_ray):
        with pytest.raises(ChildDied, match="ended by SIGSEGV"):
            on_ray(lambda: os.kill(os.getpid(), signal.SIGSEGV))()

    def test_result_that_cannot_be_sent_is_named(self, on_ray):
        with pytest.raises(NotPicklable, match=r"The function's return value .*a lock"):
            on_ray(threading.Lock)()

    def test_trial_that_kills_every_host_is_told(self, on_ray, tmp_path):
        def kills_its_host():
            (tmp_path / str(os.getpid())).touch()
            os.kill(psutil.Process().parents()[2].pid, signal.SIGKILL)  # above server and keeper
            time.sleep(100)

        with pytest.raises(
            ChildDied, match="ran on 3 hosts of the cluster, and all of them failed"
        ):
            on_ray(kills_its_host)()
        assert len([*tmp_path.iterdir()]) == 3

    def test_hosts_that_died_while_they_were_idle_are_not_the_trials_fault(self, cluster, tmp_path):
        def host(number):
            (tmp_path / str(number)).touch()
            while len([*tmp_path.iterdir()]) < 2:
                time.sleep(0.01)
            return psutil.Process().parents()[2].pid

        hosts = lowwater.map(host, [0, 1], workers=2, engine="ray")
        for process in hosts:
            os.kill(process, signal.SIGKILL)
        assert await_(lambda: all(is_gone(process) for process in hosts))

        outcome = lowwater.isolated(os.getpid, engine="ray").run()

        assert outcome.error is None
        assert "lost" not in outcome.started

    def test_error_kills_the_trials_that_still_run(self, cluster, tmp_path):
        def trial(number):
            if number:
                (tmp_path / "pid").write_text(str(os.getpid()))
                threading.Event().wait()
            while not (tmp_path / "pid").exists():
                time.sleep(0.01)
            raise ValueError("first")

        with pytest.raises(ValueError, match="first"):
            lowwater.map(trial, [0, 1], workers=2, engine="ray", timeout="60 s")
        assert is_gone(int((tmp_path / "pid").read_text()))

    def test_interrupt_leaves_no_trial_behind(self, cluster, tmp_path):
        script = tmp_path / "script.py"
        script.write_text(
            textwrap.dedent(f"""\
            import os, time, lowwater, ray
            ray.init({cluster.address!r}, logging_level="ERROR", log_to_driver=False)
            def trial():
                print(os.getpid(), flush=True)
                time.sleep(100)
            lowwater.isolated(trial, engine="ray", num_cpus=0)()
            """)
        )
        caller = subprocess.Popen(
            [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        child = int(caller.stdout.readline())

        caller.send_signal(signal.SIGINT)
        _, errors = caller.communicate(timeout=60)

        assert "KeyboardInterrupt" in errors
        assert is_gone(child)


class TestResources:
    def test_cluster_has_room_for_as_many_as_it_has_cores(self, cluster):
        from lowwater.isolation.ray.engine import Ray

        assert Ray().workers() == 2
        assert Ray(num_cpus=0.5).workers() == 4
        assert Ray(num_gpus=1).workers() == 1

    def test_no_more_trials_run_at_once_than_there_are_cores(self, cluster, tmp_path):
        def trial(number):
            (tmp_path / str(number)).touch()
            seen = len([*tmp_path.iterdir()])
            time.sleep(0.3)
            (tmp_path / str(number)).unlink()
            return seen

        seen = lowwater.map(trial, range(6), workers=6, engine="ray")

        assert max(seen) <= 2

    def test_gpu_is_the_one_that_ray_has_given(self, on_ray, monkeypatch):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5")

        assert on_ray(lambda: os.environ["CUDA_VISIBLE_DEVICES"], num_gpus=1)() == "0"

    def test_trial_runs_where_its_resource_is(self, on_ray):
        import ray

        [special] = [one["NodeID"] for one in ray.nodes() if "special" in one["Resources"]]

        outcome = on_ray(os.getpid, resources={"special": 1}).run()

        assert f"({special[:8]})" in outcome.started

    def test_hosts_that_are_idle_make_room_for_others(self, cluster):
        lowwater.map(os.getpid, [()] * 2, engine="ray")  # both cores are held now

        assert lowwater.isolated(lambda: 5, engine="ray", num_gpus=1, timeout="60 s")() == 5

    def test_hosts_that_are_idle_for_long_give_their_resources_back(self, on_ray):
        import ray

        on_ray(os.getpid, idle_s=0.1)()

        assert await_(lambda: ray.available_resources().get("CPU") == 2)

    def test_what_no_node_has_is_told(self, cluster):
        from lowwater.isolation.ray.engine import Ray

        with pytest.warns(UserWarning, match="No node .* has room for num_cpus=64; waiting"):
            Ray(num_cpus=64)._check_room()

    def test_unknown_option_is_refused_with_those_there_are(self):
        with pytest.raises(UsageError, match=r"received: gpus.*num_cpus=, num_gpus="):
            lowwater.isolated(os.getpid, engine="ray", gpus=1)


class TestOptuna:
    def test_pruning_works_across_the_cluster(self, on_ray):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)

        def objective(trial):
            rate = trial.suggest_float("rate", 0, 1)
            trial.set_user_attr("process", os.getpid())
            trial.report(float(trial.number), step=0)
            if trial.should_prune():
                raise optuna.TrialPruned
            return rate

        study = optuna.create_study(pruner=optuna.pruners.ThresholdPruner(upper=0.5))
        study.optimize(on_ray(objective), n_trials=2)

        assert [trial.state.name for trial in study.trials] == ["COMPLETE", "PRUNED"]
        assert study.trials[0].value == study.trials[0].params["rate"]
        assert len({trial.user_attrs["process"] for trial in study.trials} | {os.getpid()}) == 3


class TestConnection:
    def test_program_may_leave_the_cluster_and_join_it_again(self, cluster, tmp_path):
        script = tmp_path / "script.py"
        script.write_text(
            textwrap.dedent(f"""\
            import os, time, lowwater, ray
            process = lowwater.isolated(os.getpid, engine="ray", num_cpus=0, idle_s=0.2)
            found = set()
            for number in range(3):
                ray.init({cluster.address!r}, logging_level="ERROR", log_to_driver=False)
                found.add(process())
                time.sleep(0.1 * number)  # hosts end while the program leaves
                ray.shutdown()
            time.sleep(0.5)
            print(len(found))
            """)
        )

        done = subprocess.run(
            [sys.executable, str(script)], capture_output=True, text=True, timeout=90, check=False
        )

        assert done.stdout == "3\n", done.stderr
        assert "Traceback" not in done.stderr


# The last: it takes a node away.
class TestLostNode:
    def test_node_killed_in_mid_map_and_nothing_is_lost(self, cluster, tmp_path):
        third = cluster.add_node(num_cpus=1)
        cluster.wait_for_nodes()

        def trial(number):
            (tmp_path / f"{number}-{os.getpid()}").touch()
            while not (tmp_path / "go").exists():
                time.sleep(0.01)
            return 2 * number

        def processes():
            return [int(one.name.partition("-")[2]) for one in tmp_path.glob("*-*")]

        def kill_the_node():
            # One trial on each of the three nodes.
            await_(lambda: len([*tmp_path.iterdir()]) == 3)
            cluster.remove_node(third, allow_graceful=False)
            await_(lambda: any(is_gone(process) for process in processes()))
            (tmp_path / "go").touch()

        killer = threading.Thread(target=kill_the_node)
        killer.start()

        results = lowwater.map(trial, range(9), workers=3, engine="ray", timeout="90 s")

        killer.join()
        assert results == [2 * number for number in range(9)]
        lost = [one for one in results.outcomes if one.started.endswith("after 1 lost")]
        assert len(lost) == 1
        assert len(processes()) == 10
        assert all(is_gone(process) for process in processes())
