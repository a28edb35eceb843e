"""Messages arrive whole, whatever their size, and the end of the other side is told."""

import os
import resource

import pytest

from lowwater.isolation.local.channel import Channel


@pytest.fixture
def ends():
    here, there = Channel.pair()
    with here, there:
        yield here, there


# A message has room for 128 KiB; somewhat above that the kernel would refuse it.
@pytest.mark.parametrize("size", [0, 1_000, 131_000, 132_000, 200_000, 1_000_000])
def test_message_of_any_size_arrives(ends, size):
    here, there = ends

    here.send("log", "x" * size)
    message = there.receive()

    assert (message.kind, len(message.body), message.descriptors) == ("log", size, [])


@pytest.mark.parametrize("size", [10, 500_000])
def test_open_files_arrive_beside_it(ends, size):
    here, there = ends
    reading, writing = os.pipe()

    here.send("call", "x" * size, [writing])
    os.close(writing)
    [theirs] = there.receive().descriptors
    os.write(theirs, b"hello")
    os.close(theirs)

    assert os.read(reading, 10) == b"hello"
    os.close(reading)


def test_large_message_leaves_no_file_open(ends):
    here, there = ends
    before = len(os.listdir("/proc/self/fd"))

    for _ in range(3):
        here.send("log", "x" * 500_000)
        there.receive()

    assert len(os.listdir("/proc/self/fd")) == before


def test_end_of_the_other_side_is_told(ends):
    here, there = ends

    there.close()

    assert here.receive() is None


def test_open_files_that_there_is_no_room_for_are_an_error(ends):
    here, there = ends
    here.send("call", None, [here.fileno()] * 20)
    open_now = len(os.listdir("/proc/self/fd"))
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_now + 5, before[1]))

    try:
        with pytest.raises(OSError, match="Too many open files"):
            there.receive()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)

    assert len(os.listdir("/proc/self/fd")) == open_now
