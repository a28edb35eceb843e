"""A Python that has imported TensorFlow and never used it; each program runs in a fork of it.

As good as a fresh process for programs that call Lowwater themselves, and without the seconds that
the import takes, in half a hundred of them. Reads orders, answers with exit codes, a line each.
"""

import json
import os
import runpy
import sys
import traceback


def serve() -> None:
    """Run one program after the other until there are no more orders."""
    for line in sys.stdin:
        child = os.fork()
        if not child:
            _become(**json.loads(line))
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _become(*, script: str, arguments: list[str], folder: str, out: str, err: str) -> None:
    """Be the program, as `python script arguments` would be."""
    os.chdir(folder)
    for descriptor, path in ((0, os.devnull), (1, out), (2, err)):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), descriptor)
    sys.argv = [script, *arguments]
    sys.path[0] = folder
    code = 1
    try:
        runpy.run_path(script, run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - shown as any program's
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    import keras  # noqa: F401
    import tensorflow as tf  # noqa: F401

    serve()
