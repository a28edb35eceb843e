import json
from dataclasses import replace

import pytest
from rich.cells import cell_len

from lowwater.model import NotMeasured
from lowwater.model.gpu_holders import Glance, Need
from lowwater.model.gpus import Gpu, GpuProcess
from lowwater.model.processes import Process
from lowwater.report import gpus_json
from lowwater.report.gpus import render
from lowwater.verdict.gpu_holders import held

MIB = 1 << 20
KERNEL = ("/opt/bin/python3", "-m", "ipykernel_launcher", "-f", "/run/user/1000/kernel-1.json")
CALL = "import sys\nfrom lowwater.isolation.local.server import main\nmain(4711, 3, [])\n"
PROCESSES = {
    5: Process(5, 0.0, 11_520.0, "ann", True, ("python", "train.py"), True, 9.0),
    6: Process(6, 0.0, 300.0, "ann", True, KERNEL, False, 1.0),
    7: Process(7, 0.0, 60.0, "ann", True, ("python", "-c", CALL), False, 1.0),
    8: Process(8, 0.0, 60.0, "bob", False, ("python", "tune.py"), False, 1.0),
}
LISTED = tuple(GpuProcess(pid, size * MIB) for pid, size in ((5, 400), (6, 300), (7, 200), (8, 90)))
GPU = Gpu(0, "NVIDIA T4", "GPU-0", 1024 * MIB, 1000 * MIB, 24 * MIB, LISTED, 0)


def looked(gpu=GPU, processes=PROCESSES, busy=()):
    later = {
        pid: replace(one, cpu_s=one.cpu_s + (0.5 if pid in busy else 0.0))
        for pid, one in processes.items()
    }
    return held(Glance(0.0, (gpu,), processes), Glance(0.5, (gpu,), later))


def test_whole_screen():
    assert (
        render(looked(busy=(7, 8)))
        == """\
GPU 0: NVIDIA T4
  24.0 MiB free, 1000.0 MiB of 1.0 GiB used, 0 % busy

  process  user      age      holds  command
        5  ann     3.2 h  400.0 MiB  python train.py
                                     looks idle, parent is gone
        6  ann   5.0 min  300.0 MiB  python3 -m ipykernel_launcher -f …
                                     looks idle, notebook kernel
        7  ann   1.0 min  200.0 MiB  isolated call of process 4711
        8  bob   1.0 min   90.0 MiB  python tune.py

  10.0 MiB of GPU 0 is used, but by no process in the list: the driver itself
  uses it, or a process that the driver does not list.
  Process 5 looks idle: GPU 0 is 0 % busy, and it used 0 ms of processor time in
  500 ms. The process that started it is gone. To free 400.0 MiB, end the
  process:
    kill 5
  Process 6 looks idle: GPU 0 is 0 % busy, and it used 0 ms of processor time in
  500 ms. To free 300.0 MiB, restart or shut down the kernel.
"""
    )


def test_orphan_that_works_is_told_with_its_command():
    text = " ".join(render(looked(busy=(5, 6, 7, 8))).split())

    assert "Process 5 has lost its parent: the process that started it is gone." in text
    assert "To free 400.0 MiB, end the process: kill 5" in text
    assert "idle" not in text


def test_process_of_another_user_is_that_users():
    text = " ".join(render(looked(busy=(5, 6, 7))).split())

    assert "Process 8 looks idle" in text
    assert "To free 90.0 MiB, ask user bob." in text
    assert "kill 8" not in text


def test_nobody_is_called_forgotten():
    assert "forgotten" not in render(looked())


@pytest.mark.parametrize("width", [80, 100, 60])
@pytest.mark.parametrize("word", ["w" * 200, "火" * 90, "short"])
def test_every_line_fits(width, word):
    changed = replace(PROCESSES[5], user="a-user-with-a-long-name", arguments=("python", word))

    text = render(looked(processes={**PROCESSES, 5: changed}), width=width)

    assert max(map(cell_len, text.splitlines())) <= width


def test_strings_of_processes_do_not_steer_the_terminal():
    changed = replace(PROCESSES[5], user="an\x1b[2Jn", arguments=("python", "\x1b]0;x\x07\nb"))
    gpu = replace(GPU, name="T4\x1b[2J\n")

    text = render(looked(gpu, {**PROCESSES, 5: changed}), colour=False)

    assert "\x1b" not in text
    assert "python ?]0;x? b" in text


def test_process_that_is_hidden_has_its_reason_in_the_table():
    hidden = replace(PROCESSES[5], user=NotMeasured("no"), arguments=NotMeasured("not permitted"))
    gone = NotMeasured("the process has ended")
    before, after = {5: hidden}, {5: hidden, 6: gone}

    text = render(held(Glance(0.0, (GPU,), before), Glance(0.5, (GPU,), after)))

    assert "        5  ?     3.2 h  400.0 MiB  not permitted\n" in text
    assert "        6  ?         ?  300.0 MiB  the process has ended\n" in text


def test_gpus_that_do_not_answer_are_one_sentence_each():
    lost = NotMeasured("the GPU is lost")

    assert render((lost, lost)) == (
        "GPU 0 is not measured: the GPU is lost.\n\nGPU 1 is not measured: the GPU is lost.\n"
    )
    assert render(NotMeasured("no driver")) == "No GPU to show: no driver.\n"


# JSON


def test_json_has_values_and_reasons_apart():
    gpu = replace(GPU, utilization=NotMeasured("MIG"), is_mig=True)

    data = json.loads(gpus_json.render((*looked(gpu), NotMeasured("lost"))))

    first, second = data["gpus"]
    assert data["schema"] == "lowwater.gpu/1"
    assert first["utilization_percent"] is None
    assert first["not_measured"] == {"utilization_percent": "MIG"}
    assert (first["is_mig"], first["unattributed_bytes"]) == (True, 10 * MIB)
    assert {name for name, value in second.items() if value is None} == {*second["not_measured"]}
    assert (second["index"], second["not_measured"]["free_bytes"]) == (1, "lost")
    assert {*first} == {*second}


def test_json_of_a_process_has_what_the_table_has():
    [one] = gpus_json.to_dict(looked())["gpus"]

    orphan, kernel, call, _ = one["processes"]
    assert orphan == {
        "pid": 5,
        "used_bytes": 400 * MIB,
        "user": "ann",
        "is_own_user": True,
        "age_s": 11_520.0,
        "command": "python train.py",
        "is_parent_gone": True,
        "is_notebook_kernel": False,
        "is_isolated": False,
        "caller_pid": None,
        "looks_idle": True,
        "because": "GPU 0 is 0 % busy, and it used 0 ms of processor time in 500 ms",
        "to_free": {"advice": "end the process", "command": "kill 5"},
        "not_measured": {},
    }
    assert kernel["is_notebook_kernel"] is True
    assert (call["is_isolated"], call["caller_pid"]) == (True, 4711)


def test_process_that_has_ended_is_null_with_the_reason():
    [one] = held(Glance(0.0, (GPU,), {}), Glance(0.5, (GPU,), {5: NotMeasured("it has ended")}))
    process = gpus_json.to_dict((one,))["gpus"][0]["processes"][0]

    assert (process["user"], process["looks_idle"], process["to_free"]) == (None, None, None)
    assert process["not_measured"]["command"] == "it has ended"


def test_need_is_in_the_document():
    data = gpus_json.to_dict(NotMeasured("no driver"), Need(5, is_met=False, because="No GPU."))

    assert (data["gpus"], data["not_measured"]) == (None, {"gpus": "no driver"})
    assert data["need"] == {"need_bytes": 5, "is_met": False, "because": "No GPU."}
