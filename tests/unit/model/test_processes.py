import pytest

from lowwater.isolation.local.server_process import _BOOT
from lowwater.model import NotMeasured
from lowwater.model.processes import Process


def a_process(*arguments):
    return Process(7, 0.0, 60.0, "ann", True, arguments, False, 0.0)


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (("/usr/bin/python3", "-u", "/home/ann/train.py", "--lr=1"), "python3 -u train.py --lr=1"),
        (("python", "../train.py", "--out=/data/a"), "python train.py --out=/data/a"),
        (("python", "-c", "import a\n\nprint('\x1b[2J')"), "python -c import a print('?[2J')"),
        (("/opt/my tools/run", "/"), "/opt/my tools/run /"),
        (("python", "/home/\udcff.py"), "python ?.py"),
    ],
)
def test_command_is_one_printable_line_without_folders(arguments, command):
    assert a_process(*arguments).command == command


def test_command_that_is_hidden_has_its_reason():
    process = Process(7, 0.0, 60.0, "ann", True, NotMeasured("hidden"), False, 0.0)

    assert process.command == NotMeasured("hidden")
    assert (process.caller, process.is_kernel) == (None, False)


def test_process_that_is_forked_for_a_call_is_known_by_the_line_that_starts_the_server():
    boot = _BOOT.format(path=["/a", "it's"], caller=4711, descriptor=3, names=["keras"])

    assert a_process("python", "-I", "-c", boot).caller == 4711


@pytest.mark.parametrize(
    "arguments",
    [
        ("python", "train.py"),
        ("grep", "from lowwater.isolation.local.server import main"),
        ("python", "-c", "from lowwater.isolation.local.server import main"),
        ("python", "-c", "print('from lowwater.isolation.local.server import main\\nmain(1, 2)')"),
    ],
)
def test_process_that_only_looks_like_it_makes_no_call(arguments):
    assert a_process(*arguments).caller is None


@pytest.mark.parametrize(
    ("arguments", "is_kernel"),
    [
        (("/usr/bin/python3", "-m", "ipykernel_launcher", "-f", "/run/kernel-1.json"), True),
        (("python3.11", "-Xfrozen_modules=off", "-m", "ipykernel", "-f", "k.json"), True),
        (("python", "/site-packages/ipykernel_launcher.py", "-f", "k.json"), True),
        (("python", "-m", "pip", "install", "ipykernel"), False),
        (("python", "train.py", "ipykernel"), False),
        (("vim", "ipykernel_launcher.py"), False),
        ((), False),
    ],
)
def test_kernel_is_known_by_the_module_that_python_runs(arguments, is_kernel):
    assert a_process(*arguments).is_kernel is is_kernel
