"""The caller's surroundings, as far as they make sense on another machine."""

import os
import sys
from collections.abc import Mapping
from dataclasses import replace

from lowwater.isolation.local.preloads import settings_of
from lowwater.isolation.surroundings import Surroundings

# Which devices a process may use is decided by Ray, for each node and for each host on it.
_DEVICES = (
    "CUDA_VISIBLE_DEVICES NVIDIA_VISIBLE_DEVICES HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES "
    "ONEAPI_DEVICE_SELECTOR TPU_VISIBLE_CHIPS NEURON_RT_VISIBLE_CORES HABANA_VISIBLE_MODULES "
    "ASCEND_RT_VISIBLE_DEVICES"
).split()
# True of one machine only.
_MACHINE = (
    "HOME HOSTNAME LD_LIBRARY_PATH LOGNAME PATH PWD SHELL TEMP TMP TMPDIR USER VIRTUAL_ENV"
).split()


def as_seen_here(caller: Surroundings) -> Surroundings:
    """The caller's, with the devices and the folders of this node."""
    folder = caller.folder
    return replace(
        caller,
        folder=folder if folder is not None and os.path.isdir(folder) else None,
        path=_path(caller.path),
        variables=_variables(caller.variables, os.environ),
    )


def adopt(surroundings: Surroundings) -> None:
    """Let this process have what a framework reads when it is imported: servers inherit it."""
    wanted = settings_of(surroundings.variables)
    for name in {*settings_of(os.environ)} - {*wanted}:
        del os.environ[name]
    os.environ.update(wanted)
    sys.path[:] = surroundings.path


def _path(callers: list[str]) -> list[str]:
    found = [one for one in callers if not one or os.path.exists(one)]
    return [*found, *(one for one in sys.path if one not in found)]


def _variables(callers: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    nodes = {*_DEVICES, *_MACHINE}
    variables = {name: value for name, value in callers.items() if name not in nodes}
    variables |= {name: own[name] for name in nodes if name in own}
    # Ray gives each host as many threads as it has cores, unless the caller has decided.
    if "OMP_NUM_THREADS" in own:
        variables.setdefault("OMP_NUM_THREADS", own["OMP_NUM_THREADS"])
    return variables
