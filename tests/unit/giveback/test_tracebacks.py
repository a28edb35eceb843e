import gc
import weakref

from lowwater.giveback.tracebacks import clear_finished_frames


class Net:
    """Something that can be seen to die."""


def failing(seen):
    net = Net()
    seen.append(weakref.ref(net))
    raise ValueError("inner")


def caught(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:  # noqa: BLE001
        return error


def test_finished_frames_let_go():
    seen = []
    error = caught(failing, seen)
    assert seen[0]() is not None
    clear_finished_frames(error, None)
    gc.collect()

    assert seen[0]() is None
    assert str(error) == "inner"
    assert error.__traceback__ is not None


def test_exception_that_led_to_it_lets_go_too():
    seen = []

    def failing_twice():
        try:
            failing(seen)
        except ValueError as error:
            raise KeyError("outer") from error

    error = caught(failing_twice)
    clear_finished_frames(error, None)
    gc.collect()

    assert seen[0]() is None


def test_exception_from_before_the_block_keeps_its_frames():
    seen = []
    try:
        failing(seen)
    except ValueError as before:
        inside = caught({}.__getitem__, "inside")
        clear_finished_frames(inside, before)
        gc.collect()

        assert seen[0]() is not None


def test_frame_that_runs_keeps_its_variables():
    net = Net()
    error = caught(failing, [])
    clear_finished_frames(error, None)

    assert isinstance(net, Net)
