"""What memray wrote is told by the program's lines and the functions that wanted the memory."""

from dataclasses import dataclass, field

import pytest

from lowwater.agent.native_trace import sites as module
from lowwater.agent.native_trace.sites import MOST_SITES, add_sites, sites_of
from lowwater.agent.native_trace.tracer import checksum
from lowwater.model import NativeSite, NativeTrace
from lowwater.recording.reader import load
from lowwater.recording.records import NativeTraced
from lowwater.recording.writer import Writer

TRAIN = "/home/me/train.py"
FILES = {checksum(TRAIN): "train.py"}


@dataclass
class Allocated:
    """One record of memray's, the innermost frame first."""

    size: int
    python: list = field(default_factory=list)
    native: list = field(default_factory=list)

    def stack_trace(self, max_stacks=None):
        # Without a limit memray leaves out the frames that were running when it was started.
        return self.python[:max_stacks] if max_stacks else []

    def native_stack_trace(self, max_stacks=None):
        return [(name, "<unknown>", 0) for name in self.native[:max_stacks]]


def at(line, function="step", *, below=()):
    return [*below, (function, TRAIN, line), ("<module>", TRAIN, 99)]


def test_allocations_of_one_line_and_function_are_one_site():
    found = sites_of(
        [
            Allocated(5, at(10), ["malloc", "leak_some", "ffi_call"]),
            Allocated(20, at(12), ["keep"]),
            Allocated(7, at(10), ["realloc", "leak_some", "ffi_call"]),
        ],
        FILES,
    )

    assert found == (
        NativeSite("train.py:12", "step", "keep", 20),
        NativeSite("train.py:10", "step", "leak_some", 12),
    )


def test_the_line_is_the_programs_even_where_a_library_is_called():
    below = [("inner", "/lib/python3.11/site-packages/lib/a.py", 3)]

    [site] = sites_of([Allocated(5, at(10, below=below))], FILES)

    assert (site.where, site.function) == ("train.py:10", "step")


def test_without_a_line_of_the_program_the_library_is_named_without_its_folders():
    python = [("load", "/home/me/.venv/lib/python3.11/site-packages/lib/a.py", 3)]

    [site] = sites_of([Allocated(5, python)], FILES)

    assert (site.where, site.function) == (None, "load (lib/a.py)")


def test_a_native_thread_has_no_python_function():
    [site] = sites_of([Allocated(5, [], ["operator new(unsigned long)", "Pool::Fill()"])], FILES)

    assert site == NativeSite(None, "", "Pool::Fill", 5)


@pytest.mark.parametrize(
    ("native", "name"),
    [
        (["tsl::port::AlignedMalloc(unsigned long)", "tf::Graph::Graph()"], "tf::Graph::Graph"),
        (["<unknown>", "<unknown>", "ffi_call", "_ctypes_callproc"], ""),
        (["_PyObject_Malloc", "PyList_New", "_PyEval_EvalFrameDefault"], "PyList_New"),
        (["malloc", "_PyEval_EvalFrameDefault", "main"], ""),
        ([], ""),
        (
            ["std::vector<int>::resize(int)", "lib::(anonymous namespace)::f<a<b>, c>(int)"],
            "lib::f",
        ),
    ],
)
def test_the_function_that_wanted_the_memory_is_named_shortly(native, name):
    [site] = sites_of([Allocated(5, at(10), native)], FILES)

    assert site.native == name


def test_only_the_largest_sites_are_told():
    found = sites_of((Allocated(line, at(line)) for line in range(1, 500)), FILES)

    assert len(found) == MOST_SITES
    assert [site.grown_bytes for site in found[:2]] == [499, 498]


@pytest.fixture
def recording(tmp_path):
    return tmp_path / "run.lw"


def recorded(path, *records):
    writer = Writer(str(path))
    for record in records:
        writer.append(record)
    writer.close()
    trace = path.with_name("run.lw.memray")
    trace.write_bytes(b"not from memray")
    return trace


def test_what_was_read_is_added_to_the_recording_and_the_trace_removed(recording, monkeypatch):
    trace = recorded(recording, NativeTraced(), NativeTraced(3, 100, FILES))
    site = NativeSite("train.py:10", "step", "leak_some", 90)
    monkeypatch.setattr(module, "_sites_in", lambda path, files: (site,) if files == FILES else ())

    assert add_sites(str(recording), 5_000_000) is None

    assert load(recording).native_trace == NativeTrace(3, 100, (site,))
    assert not trace.exists()


def test_a_trace_that_cannot_be_read_is_a_note(recording, monkeypatch):
    def fail(path, files):
        raise OSError("bad magic")

    trace = recorded(recording, NativeTraced(), NativeTraced(3, 100, FILES))
    monkeypatch.setattr(module, "_sites_in", fail)
    add_sites(str(recording), 5_000_000)

    timeline = load(recording)
    assert [note.text for note in timeline.notes] == [
        "the output of memray could not be read: OSError: bad magic"
    ]
    assert timeline.native_trace == NativeTrace(3, 100)
    assert not trace.exists()


def test_a_trace_that_was_cut_off_is_removed_and_not_read(recording, monkeypatch):
    trace = recorded(recording, NativeTraced())
    monkeypatch.setattr(module, "_sites_in", lambda *_: pytest.fail("read"))
    add_sites(str(recording), 5_000_000)

    assert load(recording).native_trace is None
    assert not trace.exists()


def test_a_file_that_is_not_ours_stays(recording):
    trace = recorded(recording)
    add_sites(str(recording), 5_000_000)

    assert trace.exists()


def test_a_damaged_recording_is_left_for_the_reader_to_refuse(recording):
    trace = recorded(recording, NativeTraced(3, 100, FILES))
    recording.write_bytes(recording.read_bytes()[:-1] + b"!")

    assert add_sites(str(recording), 0) is None
    assert trace.exists()
