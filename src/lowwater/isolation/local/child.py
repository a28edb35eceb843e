"""The life of a fresh process: it takes one call, makes it, answers, and ends."""

import atexit
import os
import random
import signal
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from lowwater.agent import device_settings
from lowwater.isolation import call, surroundings
from lowwater.isolation.lending import Borrower
from lowwater.isolation.local import driver_look, logs
from lowwater.isolation.local.channel import Channel
from lowwater.isolation.local.kinship import adopt_orphans, be_signalled_with_parent
from lowwater.isolation.local.pool_maps import ask_for_maps
from lowwater.isolation.local.preloads import Lesson
from lowwater.isolation.local.result import Result, raised, result_of
from lowwater.isolation.parcel import from_descriptors, to_files, unpack
from lowwater.model.device_settings import DeviceSettings
from lowwater.probes.driver_view import is_nvml_loaded
from lowwater.probes.forked import begin_here
from lowwater.probes.levels import levels_now

NO_ANSWER = 70


def live(channel: Channel, output: Sequence[int], server: int) -> NoReturn:
    """From the fork to the end."""
    status = NO_ANSWER
    try:
        _stand_alone(server)
        _write_to(output)
        _reseed()
        if not is_nvml_loaded():
            begin_here()
        _work(channel)
        status = 0
    finally:
        _end(status)


def _stand_alone(server: int) -> None:
    """A group of its own: Ctrl-C is the caller's affair, and the group can be killed as one."""
    signal.set_wakeup_fd(-1)
    for one in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(one, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()
    adopt_orphans()
    be_signalled_with_parent(signal.SIGKILL, server)


def _write_to(output: Sequence[int]) -> None:
    for descriptor, target in zip(output, (1, 2), strict=True):
        os.dup2(descriptor, target)
        os.close(descriptor)
    for name, target in (("stdout", 1), ("stderr", 2)):
        stream = open(  # noqa: SIM115 - as long as the process
            target, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _reseed() -> None:
    """All children are copies of one process; chance must not be the same in all of them."""
    random.seed()
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed()


def _work(channel: Channel) -> None:
    message = channel.receive()
    if message is None:
        return
    here, *descriptors = message.descriptors
    caller: surroundings.Surroundings = unpack(from_descriptors([here]))
    applied = result_of(caller.apply)
    if applied.kind == "raised":
        _answer(channel, applied, ())
        return

    def send_logs() -> None:
        logs.send_logs(channel, caller.log_levels, caller.log_handlers)

    send_logs()
    _limit_devices(message.body["device_bytes"])
    borrower, lesson = Borrower(channel), Lesson()

    def made() -> Any:  # noqa: ANN401
        parcel = from_descriptors(descriptors, private=True)
        # Again when the modules of the call are imported: they may have handlers of their own.
        return call.make(parcel, borrower.load, before=send_logs)

    process, result = os.getpid(), result_of(made, ask_for_maps())
    # A copy that the function has made of itself, by a bare `os.fork()`, answers to nobody.
    if os.getpid() == process:
        _answer(channel, result, lesson.learned())


def _answer(channel: Channel, result: Result, learned: tuple[str, ...]) -> None:
    now = levels_now()
    story = {
        "learned": learned,
        "taken": driver_look.taken_here(uses_device=bool(now.devices)),
        "in_use_bytes": now.in_use_bytes,
        "resident_bytes": now.resident_bytes,
        "devices": dict(now.devices),
    }
    try:
        files = to_files(result.parcel)
    except OSError as error:  # no room for it: shared memory is full
        result = raised(error)
        files = to_files(result.parcel)
    channel.send(result.kind, story, [file.fileno() for file in files])


def _limit_devices(limit_bytes: int | None) -> None:
    """Before the first operation: the framework is there already, or comes with the function.

    A limit where one is given, else memory growth: what is not used stays free for others.
    """
    wanted = DeviceSettings(growth=True, limit_bytes=limit_bytes)
    device_settings.start(wanted, lambda _: None, overrides=False)


def _end(status: int) -> NoReturn:
    """Without waiting for threads, and without taking the framework apart: the kernel is faster."""
    try:
        _kill_left_behind()
        atexit._run_exitfuncs()  # noqa: SLF001 - those that the function registered, too
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


def _kill_left_behind() -> None:
    """Those that Python would wait for at its exit, for as long as they like to run."""
    multiprocessing = sys.modules.get("multiprocessing")
    for one in multiprocessing.active_children() if multiprocessing is not None else ():
        if not one.daemon:
            one.kill()
