from lowwater.model import NotMeasured
from lowwater.model.gpus import Gpu, GpuProcess, Unattributed


def a_gpu(used_bytes, processes):
    return Gpu(0, "A", "GPU-0", 100, used_bytes, 100 - used_bytes, processes, 0)


def test_nothing_is_left_where_the_processes_hold_it_all():
    assert a_gpu(30, (GpuProcess(1, 10), GpuProcess(2, 20))).unattributed is None


def test_processes_that_hold_more_than_is_used_leave_nothing():
    assert a_gpu(30, (GpuProcess(1, 40),)).unattributed is None


def test_what_the_list_lacks_may_be_the_drivers_own():
    assert a_gpu(30, (GpuProcess(1, 10),)).unattributed == Unattributed(
        20, "the driver itself uses it, or a process that the driver does not list"
    )


def test_list_that_is_empty_may_be_that_of_a_container():
    assert a_gpu(30, ()).unattributed == Unattributed(
        30, "the driver lists no process; in a container it hides those outside"
    )


def test_list_that_is_not_given_keeps_its_reason():
    assert a_gpu(30, NotMeasured("no")).unattributed == Unattributed(30, "no")


def test_process_without_bytes_gives_its_reason_for_the_rest():
    processes = (GpuProcess(1, 10), GpuProcess(2, NotMeasured("hidden")))

    assert a_gpu(30, processes).unattributed == Unattributed(20, "hidden")
