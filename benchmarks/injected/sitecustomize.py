"""Makes one function of Lowwater fail inside a watched program: what it is told by a variable.

Python imports a module of this name at its start, from a folder that is on its path. The variable
holds the module, the function, what happens in it, at which call, and a file to say that it did.
"""

import json
import os
import signal
import sys
from importlib.machinery import PathFinder

FAULT = json.loads(os.environ.pop("LOWWATER_FAULT", "null"))
# Popped: the program's own children are not concerned; but the agent is a child of ours.
if FAULT is not None and "lowwater" in " ".join(sys.orig_argv[1:3]):
    os.environ["LOWWATER_FAULT"] = json.dumps(FAULT)

HAPPENS = {"signal": signal.SIGUSR1, "Ctrl-C": signal.SIGINT}
RAISED = {"exception": RuntimeError("injected"), "MemoryError": MemoryError("injected")}
calls = 0


def fire():
    with open(FAULT["fired"], "a") as file:
        file.write("fired\n")
    kind = FAULT["kind"]
    if kind in RAISED:
        raise RAISED[kind]
    os.kill(os.getpid(), HAPPENS[kind])
    for _ in range(100):  # the handler runs between two of these
        pass


def is_time():
    """Before the program has a handler, a signal would end it, watched or not."""
    return FAULT["kind"] in RAISED or callable(signal.getsignal(signal.SIGUSR1))


def failing(function):
    def failing_function(*arguments, **options):
        global calls
        # Parts of Lowwater run in its own process as well: there they are not to be harmed.
        if (
            "lowwater.agent.agent" in sys.modules
            and FAULT["pid"] in (None, os.getpid())
            and is_time()
        ):
            FAULT["pid"] = os.getpid()
            calls += 1
            if calls == FAULT["call"]:
                fire()
        return function(*arguments, **options)

    return failing_function


def break_it(module):
    holder = module
    *classes, name = FAULT["function"].split(".")
    for one in classes:
        holder = getattr(holder, one)
    function = vars(holder)[name]
    if isinstance(function, staticmethod):
        setattr(holder, name, staticmethod(failing(function.__func__)))
    else:
        setattr(holder, name, failing(function))


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != FAULT["module"]:
            return None
        spec = PathFinder.find_spec(name, path, target)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            break_it(module)

        spec.loader.exec_module = exec_module
        return spec


if FAULT is not None:
    FAULT["pid"] = None
    sys.meta_path.insert(0, Finder)
