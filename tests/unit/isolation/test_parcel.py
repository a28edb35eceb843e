"""Values travel whole, and large arrays travel beside the pickle."""

import io
import mmap
import os
import resource

import numpy as np
import pytest

from lowwater.isolation import parcel
from lowwater.isolation.parcel import from_descriptors, pack, to_files, unpack


def sent(value, *, private=False):
    files = to_files(pack(value))
    descriptors = [os.dup(file.fileno()) for file in files]
    for file in files:
        file.close()
    return unpack(from_descriptors(descriptors, private=private))


@pytest.mark.parametrize("value", [None, 3, "text", {"a": [1, 2]}, (1.5, b"bytes")])
def test_plain_values_come_back_equal(value):
    assert sent(value) == value


def test_small_array_is_part_of_the_pickle():
    assert pack(np.zeros(10)).buffers == ()


def test_large_array_stands_beside_the_pickle():
    array = np.zeros(1 << 20)

    parcel = pack({"weights": array})

    assert len(parcel.pickled) < 1000
    assert [buffer.nbytes for buffer in parcel.buffers] == [array.nbytes]


def test_large_array_is_packed_without_a_copy():
    array = np.zeros(1 << 20)

    [buffer] = pack(array).buffers

    assert np.shares_memory(np.frombuffer(buffer), array)


def test_large_array_that_arrives_is_the_mapped_memory_itself():
    array = sent(np.arange(1 << 20))

    base = array
    while isinstance(base, np.ndarray):
        base = base.base
    assert isinstance(getattr(base, "obj", base), mmap.mmap)


def test_array_that_arrives_can_be_changed():
    array = sent(np.zeros(1 << 20))

    array[0] = 1.0

    assert array[0] == 1.0


def test_what_one_receiver_changes_another_does_not_see():
    [pickled, buffer] = to_files(pack(np.zeros(1 << 20)))

    def received():
        return unpack(
            from_descriptors([os.dup(pickled.fileno()), os.dup(buffer.fileno())], private=True)
        )

    with pickled, buffer:
        received()[0] = 1.0

        assert received()[0] == 0.0


def test_more_arrays_than_a_message_can_carry_files_come_back_all_the_same():
    arrays = [np.full(1 << 17, number, dtype="float64") for number in range(210)]

    parcel = pack(arrays)

    assert len(parcel.buffers) == 200
    assert [array[0] for array in unpack(parcel)] == [*range(210)]


def test_object_that_stays_behind_is_replaced_by_its_stand_in():
    class Study:
        pass

    study = Study()
    parcel = pack({"study": study, "rate": 0.1}, lambda thing: 7 if thing is study else None)

    assert unpack(parcel, lambda number: f"stand-in {number}") == {
        "study": "stand-in 7",
        "rate": 0.1,
    }


def test_lambda_comes_back_as_a_function():
    offset = 2

    assert sent(lambda number: number + offset)(3) == 5


def test_more_than_the_kernel_takes_at_once_is_written_whole(monkeypatch):
    class Slow(io.BytesIO):
        def write(self, part):
            return super().write(part[:1000])

    monkeypatch.setattr(parcel, "nameless_file", Slow)

    [file] = to_files(pack("x" * 5000))

    assert unpack(parcel.Parcel(file.getvalue())) == "x" * 5000


def test_without_nameless_memory_a_nameless_file_serves(monkeypatch):
    def refused(name):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(os, "memfd_create", refused)

    assert sent(np.arange(1 << 18))[-1] == (1 << 18) - 1


def test_arrays_that_live_on_leave_descriptors_to_the_program(monkeypatch):
    monkeypatch.setattr(parcel, "_most_living", lambda: 0)
    before = len(os.listdir("/proc/self/fd"))

    arrays = [sent(np.full(1 << 18, number)) for number in range(20)]
    arrays[-1][:] = 7

    assert len(os.listdir("/proc/self/fd")) == before
    assert [int(array[-1]) for array in arrays] == [*range(19), 7]


def test_a_part_of_the_descriptors_is_for_arrays():
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)

    assert parcel._most_living() == allowed // 4
