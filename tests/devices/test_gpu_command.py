"""`lowwater gpu` on GPUs that are only host memory: who holds what, and what looks idle."""

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
from contextlib import contextmanager

import jupyter_client
import pexpect
import pytest

from hostgpu.programs import WITH_TENSORFLOW
from how_to import text_of

pytestmark = pytest.mark.devices

MIB = 1 << 20
LONGEST_S = 120
# A process in Python that holds bytes without TensorFlow; it goes on until its input ends.
HOLDS = """
import ctypes, sys
book = ctypes.CDLL("libnvidia-ml.so.1")
assert book.book_device_count() and book.book_take(0, ctypes.c_int64({size}))
{then}
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def gpu(tmp_path):
    """Runs `lowwater gpu` on a machine."""

    def run(environment, *options, columns=80):
        return subprocess.run(
            [sys.executable, "-P", "-m", "lowwater", "gpu", *options],
            env={**environment, "COLUMNS": str(columns)},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )

    return run


@pytest.fixture
def told(gpu):
    """What the JSON of a machine says."""

    def ask(environment, *options, code=0):
        done = gpu(environment, "--json", *options)
        assert (done.returncode, done.stderr) == (code, "")
        return json.loads(done.stdout)

    return ask


@contextmanager
def holding(command, environment, **options):
    """A program that says `held` and lasts until its input ends, with all below it."""
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **options,
    ) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.stdin.close()


def in_python(size, then=""):
    return [sys.executable, "-P", "-c", HOLDS.format(size=size, then=then)]


def without_times(text):
    """Ages and moments differ from run to run."""
    text = re.sub(r"\d+ ms of processor time\s+in \S+ \w+", "N ms of processor time in M", text)
    return re.sub(r" +[\d.]+ (?:ms|s|min)(?=  )", "  AGE", text)


def test_every_gpu_has_a_table_with_what_is_free(hostgpu, gpu):
    machine = hostgpu(512 * MIB, 256 * MIB)
    with machine.neighbour(1, 100 * MIB) as neighbour:
        done = gpu(machine.environment())

    first, second = done.stdout.split("\n\n", 1)
    assert (done.returncode, done.stderr) == (0, "")
    assert first == (
        "GPU 0: host memory that plays a GPU\n"
        "  512.0 MiB free, 0 B of 512.0 MiB used, 0 % busy\n"
        "  No process holds memory."
    )
    assert "  156.0 MiB free, 100.0 MiB of 256.0 MiB used, 0 % busy\n" in second
    pattern = rf" +{neighbour.pid}  \S+  AGE  100\.0 MiB  hold 1 104857600\n +looks idle\n"
    assert re.search(pattern, without_times(second))
    assert f"To free 100.0 MiB, end the process:\n    kill {neighbour.pid}\n" in second


def test_nothing_is_killed(hostgpu, gpu):
    machine = hostgpu(512 * MIB)
    with machine.neighbour(0, 100 * MIB) as neighbour:
        gpu(machine.environment())
        gpu(machine.environment(), "--need", "1 GiB")

        assert neighbour.poll() is None


def test_json_has_the_same_in_bytes(hostgpu, told):
    machine = hostgpu(512 * MIB, 256 * MIB)
    with machine.neighbour(0, 300 * MIB) as large, machine.neighbour(0, 20 * MIB) as small:
        data = told(machine.environment())

    assert (data["schema"], data["not_measured"], data["need"]) == ("lowwater.gpu/1", {}, None)
    first, second = data["gpus"]
    assert (first["total_bytes"], first["used_bytes"]) == (512 * MIB, 320 * MIB)
    assert (first["free_bytes"], first["unattributed_bytes"]) == (192 * MIB, 0)
    assert (first["utilization_percent"], first["is_mig"], first["not_measured"]) == (0, False, {})
    assert (second["index"], second["used_bytes"], second["processes"]) == (1, 0, [])
    assert [(one["pid"], one["used_bytes"]) for one in first["processes"]] == [
        (large.pid, 300 * MIB),
        (small.pid, 20 * MIB),
    ]
    process = first["processes"][0]
    assert process["command"] == f"hold 0 {300 * MIB}"
    assert process["age_s"] > 0
    assert process["is_own_user"] is True
    assert (process["is_parent_gone"], process["is_isolated"]) == (False, False)
    assert process["looks_idle"] is True
    assert process["to_free"] == {"advice": "end the process", "command": f"kill {large.pid}"}
    assert process["not_measured"] == {}


# Faults of the driver


NONE = "No GPU to show: "
REST = "100.0 MiB of GPU 0 is used, but by no process in the list: "
FAULTS = {
    "version-mismatch": f"{NONE}the NVIDIA driver and its library have different versions.",
    "driver-not-loaded": f"{NONE}the NVIDIA driver is not loaded.",
    "no-permission": f"{REST}the driver does not permit it.",
    "foreign-pids": f"{REST}the driver's process IDs are not those of this container.",
    "no-processes": f"{REST}the driver lists no process; in a container it hides those outside.",
    "zero-bytes": f"{REST}the driver reports 0 bytes for this process.",
    "bytes-not-available": f"{REST}the driver does not report the bytes of each process here.",
    "old-driver": "To free 100.0 MiB, end the process:",
    "mig": "MIG is on: the bytes are those of the whole GPU, not those of one instance.",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_of_the_driver_has_its_sentence(hostgpu, gpu, fault):
    machine = hostgpu(512 * MIB)
    with machine.neighbour(0, 100 * MIB):
        done = gpu(machine.environment(nvml_faults=[fault]))

    assert (done.returncode, done.stderr) == (0, "")
    assert FAULTS[fault] in " ".join(done.stdout.split())


@pytest.mark.parametrize("fault", ["no-permission", "foreign-pids", "zero-bytes"])
def test_bytes_of_no_process_are_told_and_given_to_none(hostgpu, told, fault):
    machine = hostgpu(512 * MIB)
    with machine.neighbour(0, 100 * MIB):
        [one] = told(machine.environment(nvml_faults=[fault]))["gpus"]

    assert one["unattributed_bytes"] == 100 * MIB
    assert one["unattributed_because"]
    if one["processes"] is None:
        assert one["not_measured"]["processes"] == one["unattributed_because"]
    else:
        [process] = one["processes"]
        assert process["used_bytes"] is None
        assert process["not_measured"]["used_bytes"] == one["unattributed_because"]


def test_context_of_a_process_is_its_own(hostgpu, told):
    machine = hostgpu(512 * MIB, context_bytes=20 * MIB)
    with holding(in_python(MIB, "book.book_enter(0)"), machine.environment()):
        [one] = told(machine.environment())["gpus"]

    assert one["used_bytes"] == one["processes"][0]["used_bytes"] + one["unattributed_bytes"]


LOST = "the GPU is lost: the driver no longer reaches it"


@pytest.mark.parametrize("answers", [*range(0, 40, 3)])
def test_gpu_that_is_lost_on_the_way_never_raises(hostgpu, gpu, answers):
    environment = hostgpu(512 * MIB).environment(nvml_lost_after=answers)

    done = gpu(environment)

    assert (done.returncode, done.stderr) == (0, "")
    assert LOST in " ".join(done.stdout.split()) or "512.0 MiB free" in done.stdout


def test_lost_gpu_is_one_sentence(hostgpu, gpu, tmp_path):
    sign = tmp_path / "lost"
    sign.touch()

    done = gpu(hostgpu(512 * MIB).environment(nvml_lost_if=sign))

    assert (done.returncode, done.stdout) == (0, f"No GPU to show: {LOST}.\n")


BROKEN = {
    "nothing": ("", "no NVIDIA driver was found"),
    "absent": (
        "raise ModuleNotFoundError('no', name='pynvml')",
        "nvidia-ml-py is not installed; try: pip install 'lowwater[gpu]'",
    ),
    "failing": ("raise RuntimeError('a\\nb')", "NVML failed: RuntimeError: a b"),
    "foreign": (
        "value = 1",
        "NVML failed: AttributeError: module 'pynvml' has no attribute 'nvmlInit'",
    ),
}


@pytest.mark.parametrize("how", BROKEN)
def test_machine_without_a_driver_has_one_sentence(gpu, told, tmp_path, how):
    source, why = BROKEN[how]
    environment = {**os.environ, "LD_LIBRARY_PATH": ""}
    if source:
        (tmp_path / "pynvml.py").write_text(source)
        environment["PYTHONPATH"] = str(tmp_path)

    done, gated = gpu(environment, columns=100), gpu(environment, "--need", "1 GiB")

    sentence = f"No GPU to show: {why}.\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, sentence, "")
    assert (gated.returncode, gated.stdout, gated.stderr) == (4, sentence, "")
    data = told(environment)
    assert data["gpus"] is None
    assert data["not_measured"]["gpus"].split() == why.split()


def test_library_that_is_garbage_has_one_sentence(gpu, tmp_path):
    (tmp_path / "libnvidia-ml.so.1").write_bytes(b"no library")

    done = gpu({**os.environ, "LD_LIBRARY_PATH": str(tmp_path)})

    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        "No GPU to show: no NVIDIA driver was found.\n",
        "",
    )


# Who it is


def test_process_whose_parent_was_killed_is_told(hostgpu, gpu, told):
    machine = hostgpu(512 * MIB)
    starts = f"import subprocess, sys\nsubprocess.run({in_python(100 * MIB)!r})\n"
    command = [sys.executable, "-P", "-c", starts]
    with holding(command, machine.environment(), start_new_session=True) as parent:
        [before] = told(machine.environment())["gpus"][0]["processes"]
        parent.kill()
        parent.wait()
        [after] = told(machine.environment())["gpus"][0]["processes"]
        text = gpu(machine.environment()).stdout

    assert before["pid"] == after["pid"] != parent.pid
    assert (before["is_parent_gone"], after["is_parent_gone"]) == (False, True)
    assert "looks idle, parent is gone" in text
    assert "The process that started it is gone. To free 100.0 MiB," in " ".join(text.split())


def test_process_that_works_does_not_look_idle(hostgpu, gpu, told):
    machine = hostgpu(512 * MIB)
    spins = "import threading\nthreading.Thread(target=exec, args=['while 1: pass'], daemon=True)"
    with holding(in_python(100 * MIB, f"{spins}.start()"), machine.environment()) as process:
        [one] = told(machine.environment())["gpus"][0]["processes"]
        text = gpu(machine.environment()).stdout

    assert (one["pid"], one["looks_idle"]) == (process.pid, False)
    assert "of processor time in" in one["because"]
    assert "idle" not in text
    assert "kill" not in text


def test_process_whose_workers_work_does_not_look_idle(hostgpu, told):
    machine = hostgpu(512 * MIB)
    starts = "import subprocess\nworker = subprocess.Popen([sys.executable, '-c', 'while 1: pass'])"
    ends = "import atexit\natexit.register(worker.kill)"
    with holding(in_python(100 * MIB, f"{starts}\n{ends}"), machine.environment()):
        [one] = told(machine.environment())["gpus"][0]["processes"]

    assert one["looks_idle"] is False


def test_process_on_a_gpu_that_computes_does_not_look_idle(hostgpu, told):
    machine = hostgpu(512 * MIB)
    notes = "import threading, time\ndef note():\n    while 1:\n        time.sleep(0.2)\n"
    notes += "        book.book_note_activity(0)\n"
    notes += "book.book_note_activity(0)\nthreading.Thread(target=note, daemon=True).start()"
    with machine.neighbour(0, MIB) as quiet, holding(in_python(MIB, notes), machine.environment()):
        [one] = told(machine.environment())["gpus"]

    [quiet_one] = [each for each in one["processes"] if each["pid"] == quiet.pid]
    assert one["utilization_percent"] > 0
    assert quiet_one["looks_idle"] is False
    assert re.fullmatch(r"GPU 0 is \d+ % busy", quiet_one["because"])


ISOLATED = """
import lowwater
FIFO = {fifo!r}

@lowwater.isolated
def trial():
    grow()
    kept = take(100 * MIB)
    print("held", flush=True)
    with open(FIFO) as file:
        file.read()

trial()
"""


def test_isolated_call_is_known_with_its_caller(hostgpu, gpu, told, tmp_path):
    machine, fifo = hostgpu(512 * MIB), str(tmp_path / "fifo")
    os.mkfifo(fifo)
    program = tmp_path / "tune.py"
    program.write_text(WITH_TENSORFLOW + ISOLATED.format(fifo=fifo))
    with holding([sys.executable, "-P", str(program)], machine.environment()) as caller:
        [one] = told(machine.environment())["gpus"][0]["processes"]
        text = gpu(machine.environment()).stdout
        with open(fifo, "w"):
            pass

    assert caller.returncode == 0
    assert (one["is_isolated"], one["caller_pid"]) == (True, caller.pid)
    assert one["pid"] != caller.pid
    assert one["used_bytes"] >= 100 * MIB
    assert f"isolated call of process {caller.pid}\n" in text


def test_kernel_that_waits_looks_idle_and_is_not_to_be_killed(hostgpu, gpu, told, tmp_path):
    machine = hostgpu(512 * MIB)
    manager = jupyter_client.KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(tmp_path), env=machine.environment())
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=LONGEST_S)
        takes = HOLDS.format(size=100 * MIB, then="").partition("print(")[0]
        client.execute_interactive(takes, timeout=LONGEST_S)
        # It may tidy up for a moment.
        for _ in range(20):
            [one] = told(machine.environment())["gpus"][0]["processes"]
            if one["looks_idle"]:
                break
        text = gpu(machine.environment()).stdout
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()

    assert (one["is_notebook_kernel"], one["looks_idle"]) == (True, True)
    assert one["to_free"] == {"advice": "restart or shut down the kernel", "command": None}
    assert "notebook kernel" in text
    assert "kill" not in text


@pytest.mark.skipif(os.getuid() != 0, reason="only root can start a process of another user")
def test_process_of_another_user_is_that_users_affair(hostgpu, gpu, told):
    machine = hostgpu(512 * MIB)
    command = in_python(100 * MIB, "import os\nos.setuid(65534)")
    with holding(command, machine.environment()):
        [one] = told(machine.environment())["gpus"][0]["processes"]
        text = gpu(machine.environment()).stdout

    assert one["is_own_user"] is False
    assert one["to_free"] == {"advice": f"ask user {one['user']}", "command": None}
    assert f"To free 100.0 MiB, ask user {one['user']}." in " ".join(text.split())


def test_sentence_for_others_names_who_holds_the_gpu(hostgpu, programs):
    machine = hostgpu(512 * MIB)
    asks = """
    import json
    from lowwater.supervisor.gpus import opened_driver, who_holds
    with opened_driver() as driver:
        print(json.dumps([who_holds(gpu) for gpu in driver.gpus()]))
    """
    [free] = programs.run(textwrap.dedent(asks), machine.environment())
    with machine.neighbour(0, 100 * MIB) as neighbour:
        [sentence] = programs.run(textwrap.dedent(asks), machine.environment())

    assert free == "no process holds memory of GPU 0"
    who = rf"process {neighbour.pid} \(hold 0 104857600, user \S+\)"
    assert re.fullmatch(f"{who} holds 100.0 MiB of GPU 0", sentence)


# The options


def test_need_is_met_by_any_gpu(hostgpu, gpu, told):
    machine = hostgpu(512 * MIB, 256 * MIB)
    with machine.neighbour(0, 400 * MIB):
        done = gpu(machine.environment(), "--need", "200 MiB")
        data = told(machine.environment(), "--need", "200 MiB")

    assert (done.returncode, done.stdout) == (0, "GPU 1 has 256.0 MiB free.\n")
    assert data["need"] == {
        "need_bytes": 200 * MIB,
        "is_met": True,
        "because": "GPU 1 has 256.0 MiB free.",
    }


def test_need_that_is_not_met_says_who_holds_what(hostgpu, gpu, told):
    machine = hostgpu(512 * MIB, 256 * MIB)
    with machine.neighbour(0, 400 * MIB) as neighbour:
        done = gpu(machine.environment(), "--need", "300MiB")
        data = told(machine.environment(), "--need", "300 MiB", code=4)

    assert (done.returncode, done.stderr) == (4, "")
    user = re.search(r"user (\S+)\)", done.stdout)[1]
    assert done.stdout == (
        "No GPU has 300.0 MiB free. GPU 0 has 112.0 MiB free, 188.0 MiB too little: "
        f"process {neighbour.pid} (hold 0 419430400, user {user}) holds 400.0 MiB of GPU 0. "
        "GPU 1 has 256.0 MiB free, 44.0 MiB too little: no process holds memory of GPU 1.\n"
    )
    assert (data["need"]["is_met"], data["need"]["because"]) == (False, done.stdout.strip())


def test_free_bytes_of_a_gpu_cut_into_instances_meet_no_need(hostgpu, gpu):
    environment = hostgpu(512 * MIB).environment(nvml_faults=["mig"])

    done = gpu(environment, "--need", "100 MiB")

    assert done.returncode == 4
    assert done.stdout.endswith("MIG is on: the bytes are those of the whole GPU, not those of "
                                "one instance.\n")  # fmt: skip


@pytest.mark.parametrize("columns", [80, 100])
def test_no_word_is_cut_and_no_line_is_wider(hostgpu, gpu, told, columns):
    machine = hostgpu(512 * MIB)
    words = [f"--option-number-{number}=value" for number in range(9)]
    with holding([*in_python(100 * MIB), *words], machine.environment()) as process:
        environment = machine.environment(nvml_faults=["zero-bytes"])
        done = gpu(environment, columns=columns)
        [one] = told(environment)["gpus"][0]["processes"]

    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= columns
    [row] = [line for line in lines if line.split()[:1] == [str(process.pid)]]
    shown = row.split("?  ")[1].removesuffix(" …")
    assert row.endswith(" …")
    assert one["command"].startswith(f"{shown} ")


def test_watch_prints_one_table_after_the_other_until_interrupted(hostgpu, tmp_path):
    machine = hostgpu(512 * MIB)
    command = [sys.executable, "-P", "-m", "lowwater", "gpu", "--watch", "0.1"]
    with subprocess.Popen(
        command,
        env=machine.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        head = [process.stdout.readline() for _ in range(5)]
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=LONGEST_S)

    assert (process.returncode, errors) == (0, "")
    assert head[0] == head[4] == "GPU 0: host memory that plays a GPU\n"
    assert head[3] == "\n"


def test_watch_gives_one_document_on_each_line(hostgpu):
    command = [sys.executable, "-P", "-m", "lowwater", "gpu", "--json", "--watch", "0.1"]
    with subprocess.Popen(
        command, env=hostgpu(512 * MIB).environment(), stdout=subprocess.PIPE, text=True
    ) as process:
        documents = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LONGEST_S)

    assert process.returncode == 0
    assert [one["gpus"][0]["free_bytes"] for one in documents] == [512 * MIB] * 2


def test_watch_redraws_a_terminal(hostgpu):
    terminal = pexpect.spawn(
        sys.executable,
        ["-P", "-m", "lowwater", "gpu", "--watch", "0.1"],
        env={**hostgpu(512 * MIB).environment(), "TERM": "xterm"},
        timeout=LONGEST_S,
        encoding="utf-8",
    )
    for _ in range(2):
        terminal.expect_exact("\x1b[2J\x1b[H")
        terminal.expect_exact("GPU 0: host memory")
    terminal.sendintr()
    terminal.expect(pexpect.EOF)
    terminal.close()

    assert (terminal.exitstatus, terminal.signalstatus) == (0, None)


def test_gpu_that_comes_back_is_shown_again(hostgpu, tmp_path):
    sign = tmp_path / "lost"
    command = [sys.executable, "-P", "-m", "lowwater", "gpu", "--json", "--watch", "0.1"]
    environment = hostgpu(512 * MIB).environment(nvml_lost_if=sign)
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:

        def until(is_lost):
            answers = (json.loads(line)["gpus"] for line in process.stdout)
            return any((gpus is None) is is_lost for gpus in answers)

        seen = [until(False), sign.touch() or until(True), sign.unlink() or until(False)]
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LONGEST_S)

    assert (seen, process.returncode) == ([True, True, True], 0)


def words(text):
    """The words of a screen, without those that differ from run to run."""
    text = re.sub(r"[\d.]+ (?:ms|s|min|h)\b", "TIME", text)
    pid = re.search(r"kill (\d+)", text)[1]
    user = re.search(rf"{pid}  (\S+)", text)[1]
    return [{pid: "PID", user: "USER"}.get(word, word) for word in text.split()]


def test_page_shows_what_the_command_shows(hostgpu, gpu):
    machine = hostgpu(512 * MIB)
    starts = (
        f"import subprocess\nsubprocess.run({[str(machine.built.hold), '0', str(400 * MIB)]!r})"
    )
    command = [sys.executable, "-P", "-c", starts]
    with holding(command, machine.environment(), start_new_session=True) as parent:
        parent.kill()
        parent.wait()
        shown = gpu(machine.environment()).stdout
        hidden = gpu(machine.environment(nvml_faults=["no-processes"])).stdout

    whole, rest = re.findall(
        r"^```text\n(.*?)^```", text_of("see-who-holds-the-gpu.md"), re.DOTALL | re.MULTILINE
    )
    assert rest in hidden
    assert words(whole) == words(shown)
