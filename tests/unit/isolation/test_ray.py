"""What the Ray engine decides without a cluster."""

import sys

import numpy as np
import pytest

import lowwater
from lowwater.errors import UsageError
from lowwater.isolation.parcel import pack, unpack
from lowwater.isolation.ray import node
from lowwater.isolation.ray.engine import room_on
from lowwater.isolation.ray.wire import from_arrays, to_arrays
from lowwater.isolation.surroundings import Surroundings


def surroundings(**parts):
    empty = {"folder": None, "path": [], "arguments": [], "variables": {}, "log_levels": {}}
    return Surroundings(**{**empty, "sources": {}, **parts})


def test_without_ray_the_user_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)

    with pytest.raises(UsageError, match=r"pip install 'lowwater\[ray\]'"):
        lowwater.isolated(len, engine="ray")([])


@pytest.mark.parametrize(
    ("needs", "room"),
    [
        ({"CPU": 1, "GPU": 0}, 4),
        ({"CPU": 0.1}, 40),
        ({"CPU": 1, "GPU": 1}, 2),
        ({"CPU": 1, "special": 1}, 0),
        ({"CPU": 0}, 1),
    ],
)
def test_room_is_what_the_scarcest_resource_allows(needs, room):
    assert room_on({"CPU": 4.0, "GPU": 2.0}, needs) == room


def test_devices_and_machine_are_the_nodes_and_the_rest_is_the_callers(monkeypatch, tmp_path):
    for name, value in {"CUDA_VISIBLE_DEVICES": "3", "HOME": "/home/node", "RATE": "1"}.items():
        monkeypatch.setenv(name, value)
    callers = {"CUDA_VISIBLE_DEVICES": "0", "HOME": "/home/me", "TRIAL": "7", "TMPDIR": "/mine"}
    monkeypatch.delenv("TMPDIR", raising=False)

    seen = node.as_seen_here(surroundings(variables=callers)).variables

    assert (seen["CUDA_VISIBLE_DEVICES"], seen["HOME"]) == ("3", "/home/node")
    assert seen["TRIAL"] == "7"
    assert {"RATE", "TMPDIR"}.isdisjoint(seen)


def test_threads_are_the_nodes_unless_the_caller_has_decided(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")

    open_, decided = (
        node.as_seen_here(surroundings(variables=variables)).variables["OMP_NUM_THREADS"]
        for variables in ({}, {"OMP_NUM_THREADS": "8"})
    )

    assert (open_, decided) == ("1", "8")


def test_folders_that_the_node_does_not_have_are_left_out(tmp_path):
    seen = node.as_seen_here(surroundings(folder="/no/such", path=["", "/no/such", str(tmp_path)]))

    assert seen.folder is None
    assert seen.path[:2] == ["", str(tmp_path)]
    assert {*sys.path} <= {*seen.path}
    assert "/no/such" not in seen.path


def test_arrays_from_the_object_store_are_copied_to_be_changed():
    arrays = to_arrays(pack([np.zeros(1 << 18), "text"]))
    for one in arrays:
        one.flags.writeable = False  # as Ray hands them out

    array, text = unpack(from_arrays(arrays, writable=True))
    array[0] = 5

    assert (len(arrays), array.sum(), text) == (2, 5, "text")
