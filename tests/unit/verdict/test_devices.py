"""The driver's view beside the program's own, on runs that are told."""

from dataclasses import replace

import pytest

from lowwater.model import DeviceRow, Kind, Sample, Timeline, Unit
from lowwater.model.devices import Device
from lowwater.model.gpus import GpuLook, WatchedGpu
from lowwater.verdict import book, judge
from lowwater.verdict.devices import with_devices

MIB = 1 << 20
EPOCH = Unit(0, "epoch")
CONTEXT = 300 * MIB
TOTAL = 8192 * MIB


def a_run(in_use, *, ours=(), others=0, device=None, ending_s=None):
    """Samples at 1 s, 2 s … with these MiB in use; the driver looks a little later each time."""
    samples = tuple(
        Sample(
            0,
            number,
            float(number),
            {
                "heap_used": 100 * MIB,
                "rss_anon": 150 * MIB,
                "GPU:0 in use": level * MIB,
                "GPU:0 peak": max(in_use[:number]) * MIB,
            },
        )
        for number, level in enumerate(in_use, start=1)
    )
    looks = tuple(
        GpuLook(number + 0.2, (level + others) * MIB, 0, level * MIB)
        for number, level in enumerate(ours, start=1)
    )
    if ending_s is not None:
        looks = (*looks, GpuLook(ending_s, others * MIB, TOTAL, 0))
    device = device or Device("GPU:0", "TensorFlow", 0, 4000 * MIB, grows=False)
    gpus = (WatchedGpu(0, "A", "GPU-a", TOTAL, looks=looks),) if looks else ()
    return Timeline(units=(EPOCH,), samples=samples, devices=(device,), gpus=gpus)


GROWING = Device("GPU:0", "TensorFlow", 0, 4000 * MIB, grows=True)


def rows_of(timeline):
    ledger = book(with_devices(timeline), EPOCH)
    return {row.name: row for row in ledger.rows}, ledger


def at_end(rows, row):
    return rows[row.at("GPU:0")].last_bytes // MIB


def test_what_the_driver_counts_is_the_pool_and_the_rest():
    rows, _ = rows_of(a_run([100] * 6, ours=[4300] * 6, others=500))

    assert at_end(rows, DeviceRow.OURS) == 4300
    assert at_end(rows, DeviceRow.OTHERS) == 500
    assert at_end(rows, DeviceRow.POOL_FREE) == 3900
    assert at_end(rows, DeviceRow.REST) == 300
    assert at_end(rows, DeviceRow.IN_USE) == 100
    assert rows[DeviceRow.POOL_FREE.at("GPU:0")].is_estimate


def test_pool_that_grows_is_what_the_driver_adds_to_it():
    """At first nearly all of it is the context: later the difference is the pool."""
    rows, _ = rows_of(a_run([2, 600, 100], ours=[302, 1300, 1300], device=GROWING))

    assert at_end(rows, DeviceRow.REST) == 300
    assert at_end(rows, DeviceRow.POOL_FREE) == 900
    assert rows[DeviceRow.POOL_FREE.at("GPU:0")].is_estimate


def test_pool_is_never_less_than_its_peak_and_the_rows_add_up():
    rows, _ = rows_of(a_run([50, 600, 100], ours=[700, 700, 700], device=GROWING))

    parts = (DeviceRow.IN_USE, DeviceRow.POOL_FREE, DeviceRow.REST)
    assert at_end(rows, DeviceRow.POOL_FREE) == 500
    assert sum(at_end(rows, row) for row in parts) == at_end(rows, DeviceRow.OURS)


def test_without_a_driver_a_greedy_pool_is_its_limit():
    rows, _ = rows_of(a_run([100] * 6))

    assert at_end(rows, DeviceRow.POOL_FREE) == 3900
    assert rows[DeviceRow.POOL_FREE.at("GPU:0")].is_estimate
    assert DeviceRow.OURS.at("GPU:0") not in rows


def test_without_a_driver_a_growing_pool_is_at_least_its_peak():
    rows, _ = rows_of(a_run([100, 700, 100], device=GROWING))

    assert at_end(rows, DeviceRow.POOL_FREE) == 600
    assert "at least" in rows[DeviceRow.POOL_FREE.at("GPU:0")].remark


def test_pool_that_found_less_room_has_what_tensorflow_asked_for_next():
    """Refused 4000 MiB it asks for 3600, then for 3240: the rest is the context."""
    rows, _ = rows_of(a_run([100] * 6, ours=[3500] * 6))

    assert at_end(rows, DeviceRow.POOL_FREE) == 3140
    assert at_end(rows, DeviceRow.REST) == 260
    assert "no room for TensorFlow's limit" in rows[DeviceRow.POOL_FREE.at("GPU:0")].remark


def test_look_after_the_end_is_not_taken_for_the_program():
    """The last sample comes when the driver has struck the program out already."""
    rows, ledger = rows_of(a_run([100] * 6, ours=[4300] * 5, ending_s=6.1))

    assert at_end(rows, DeviceRow.OURS) == 4300
    assert not ledger.unmeasured


def test_driver_that_counts_less_than_is_in_use_is_not_believed():
    rows, ledger = rows_of(a_run([500] * 6, ours=[100] * 6))

    assert DeviceRow.OURS.at("GPU:0") not in rows
    assert ledger.unmeasured == {
        "GPU:0 at the driver": "the driver counts less for this program than the program has in use"
    }


def test_driver_that_hides_the_program_counts_nothing_on_any_of_its_gpus():
    """The second device has a context, which would be counted if the driver listed the program."""
    run = a_run([100] * 6, ours=[0] * 6)
    second = replace(run.devices[0], place="GPU:1", physical=1)
    gpus = (*run.gpus, replace(run.gpus[0], index=1, uuid="GPU-b"))

    rows, ledger = rows_of(replace(run, devices=(*run.devices, second), gpus=gpus))

    assert not [name for name in rows if "driver" in name]
    assert "does not confirm" in rows[DeviceRow.POOL_FREE.at("GPU:0")].remark
    why = "the driver does not list this program; in a container it may hide it"
    assert ledger.unmeasured == {"GPU:0 at the driver": why, "GPU:1 at the driver": why}


def test_use_of_a_gpu_between_the_last_look_and_the_end_is_not_called_hidden():
    _, ledger = rows_of(a_run([0, 0, 0, 100], ours=[0, 0]))

    assert ledger.unmeasured == {
        "GPU:0 at the driver": "the program ended before the driver was asked what it takes"
    }


LOST = {"driver": "the GPU is lost: the driver no longer reaches it"}


def test_gpu_that_was_lost_before_its_first_use_has_one_reason():
    run = a_run([100] * 6, ours=[0])

    rows, ledger = rows_of(replace(run, unmeasured=LOST))

    assert DeviceRow.OURS.at("GPU:0") not in rows
    assert ledger.unmeasured == LOST


def test_what_the_driver_counted_is_not_carried_on_after_the_gpu_is_lost():
    run = a_run([100, 100, 500, 500], ours=[600, 600], device=GROWING)

    lost, ledger = rows_of(replace(run, unmeasured=LOST))
    whole, _ = rows_of(run)

    assert len(lost[DeviceRow.OURS.at("GPU:0")].series) == 2
    assert "the driver no longer answered" in lost[DeviceRow.OURS.at("GPU:0")].remark
    assert ledger.unmeasured == LOST
    assert len(whole[DeviceRow.OURS.at("GPU:0")].series) == 4
    assert whole[DeviceRow.OURS.at("GPU:0")].remark == ""


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"is_mig": True}, "divided into MIG instances"),
        ({"index": 3}, "no GPU number 0"),
    ],
)
def test_gpu_that_cannot_be_matched_leaves_the_rows_out(change, why):
    run = a_run([100] * 6, ours=[4300] * 6)
    run = replace(run, gpus=(replace(run.gpus[0], **change),))

    rows, ledger = rows_of(run)

    assert DeviceRow.OURS.at("GPU:0") not in rows
    assert why in ledger.unmeasured["GPU:0 at the driver"]


def test_two_devices_on_one_gpu_share_what_the_driver_counts():
    run = a_run([100] * 6, ours=[4300] * 6)
    run = replace(run, devices=(*run.devices, replace(run.devices[0], place="GPU:1")))

    _, ledger = rows_of(run)

    assert "divided the GPU" in ledger.unmeasured["GPU:0 at the driver"]


def test_silent_driver_of_a_gpu_that_is_not_used_is_nobodys_business():
    silent = Timeline(unmeasured={"driver": "no NVIDIA driver was found", "malloc": "why"})

    assert with_devices(silent).unmeasured == {"malloc": "why"}


def test_pool_that_is_full_for_the_driver_and_empty_inside_is_reserved():
    verdict, _ = judge(with_devices(a_run([100] * 14, ours=[4300] * 14)))

    assert (verdict.kind, verdict.place) == (Kind.RESERVED, "GPU:0")
    assert verdict.because == (
        "`nvidia-smi` shows 4.2 GiB of 8.0 GiB of GPU:0 for this program, of which 100.0 MiB is in "
        "use; TensorFlow keeps the rest for reuse and returns it when the process ends"
    )


def test_pool_without_a_driver_is_reserved_by_its_own_figures():
    verdict, _ = judge(with_devices(a_run([100] * 14)))

    assert verdict.kind is Kind.RESERVED
    assert verdict.because.startswith(
        "of about 3.9 GiB in TensorFlow's pool on GPU:0, 100.0 MiB is in use; TensorFlow keeps"
    )


def test_full_pool_is_not_reserved_and_a_leak_inside_it_is_a_leak():
    full, _ = judge(with_devices(a_run([3990] * 14, ours=[4300] * 14)))
    leak, _ = judge(with_devices(a_run([100 + 20 * n for n in range(14)], ours=[4300] * 14)))

    assert full.kind is Kind.FLAT
    assert (leak.kind, leak.place) == (Kind.LEAK, "GPU:0")


def test_first_screen_has_three_rows_for_a_device():
    _, ledger = rows_of(a_run([100] * 6, ours=[4300] * 6))

    names = [row.name for row in ledger.summary if row.name.startswith("GPU:0")]
    shown = (DeviceRow.OURS, DeviceRow.POOL_FREE, DeviceRow.IN_USE)
    assert names == [row.at("GPU:0") for row in shown]


def without_devices(timeline):
    samples = tuple(
        replace(
            one, gauges={name: value for name, value in one.gauges.items() if "GPU" not in name}
        )
        for one in timeline.samples
    )
    return replace(timeline, devices=(), samples=samples)


def test_gpu_that_only_the_driver_tells_of_is_in_the_ledger_with_the_reason():
    """A v1 session, torch, JAX, or a child of the program."""
    rows, ledger = rows_of(without_devices(a_run([1] * 6, ours=[700] * 6, others=500)))

    assert at_end(rows, DeviceRow.OURS) == 700
    assert at_end(rows, DeviceRow.OTHERS) == 500
    assert DeviceRow.IN_USE.at("GPU:0") not in rows
    assert ledger.unmeasured["GPU:0 in use"].startswith("the driver counts memory of this program")
    assert [row.name for row in ledger.summary if "GPU" in row.name] == [
        "GPU:0 taken, by the driver"
    ]


def test_gpu_that_only_others_hold_is_not_the_programs_affair():
    rows, ledger = rows_of(without_devices(a_run([1] * 6, ours=[0] * 6, others=500)))

    assert not [name for name in (*rows, *ledger.unmeasured) if "GPU" in name]
