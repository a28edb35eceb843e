"""All that the program can reach begins somewhere: modules, running functions, threads."""

import gc
import importlib.util
import sys
import threading
import types
import weakref

import pytest

from lowwater.agent.census.roots import frames_now, modules_now, namespace, variables_of


class Thing:
    """Something that can be referred to weakly."""


@pytest.fixture
def put_in_modules(monkeypatch):
    """Things that stand in `sys.modules` for the time of a test."""

    def put(**modules):
        for name, module in modules.items():
            monkeypatch.setitem(sys.modules, name, module)

    return put


def a_module(name="a_module", **names):
    module = types.ModuleType(name)
    module.__dict__.update(names)
    return module


def sorted_now(*users):
    return modules_now(lambda filename: filename in users, "lowwater")


def test_modules_of_the_program_are_told_by_their_files(put_in_modules):
    mine, other = a_module("mine", __file__="/me/mine.py"), a_module("other", __file__="/lib/o.py")
    put_in_modules(mine=mine, other=other)
    modules = sorted_now("/me/mine.py")

    assert mine in modules.users
    assert other in modules.libraries
    assert sys.modules["__main__"] in modules.users
    assert "mine" in modules.users_names


def test_module_with_two_names_is_there_once(put_in_modules):
    """`multiprocessing` gives `__main__` the name `__mp_main__` as well."""
    mine = a_module("mine", __file__="/me/mine.py")
    put_in_modules(mine=mine, also_mine=mine)

    assert sorted_now("/me/mine.py").users.count(mine) == 1


def test_our_own_modules_are_in_neither():
    modules = sorted_now()
    names = {namespace(module)["__name__"] for module in (*modules.users, *modules.libraries)}

    assert "lowwater.agent.census.roots" in sys.modules
    assert not [name for name in names if name.split(".")[0] == "lowwater"]


class Talking:
    """A thing that counts how often it is asked anything."""

    calls = 0

    def asked(self, *_):
        type(self).calls += 1
        raise RuntimeError

    __str__ = __repr__ = __eq__ = __hash__ = __fspath__ = __getattr__ = asked


@pytest.mark.parametrize("make", [int, b"/me/mine.py".upper, Talking, lambda: ["/me/mine.py"]])
def test_odd_files_are_nobodys(put_in_modules, make):
    module = a_module(__file__=make())
    put_in_modules(a_module=module)

    assert module in sorted_now("/me/mine.py").libraries
    assert Talking.calls == 0


def test_things_in_sys_modules_that_are_no_modules_are_left_out(put_in_modules, monkeypatch):
    odd = [None, 42, Talking(), types.SimpleNamespace(__file__="/me/mine.py"), type]
    put_in_modules(**{f"odd_{number}": thing for number, thing in enumerate(odd)})
    monkeypatch.setitem(sys.modules, 7, a_module("by_number", __file__="/me/mine.py"))
    modules = sorted_now("/me/mine.py")

    assert modules.users == (sys.modules["__main__"],)
    assert Talking.calls == 0


def test_module_without_a_name_is_no_trouble(put_in_modules):
    nameless, odd = a_module(__file__="/me/a.py"), a_module(__file__="/me/a.py", __name__=Talking())
    del nameless.__dict__["__name__"]
    put_in_modules(nameless=nameless, odd=odd)
    modules = sorted_now("/me/a.py")

    assert {nameless, odd} < set(modules.users)
    assert modules.users_names == {"__main__"}


def test_lazy_module_is_not_loaded_by_looking(tmp_path, monkeypatch):
    (tmp_path / "a_lazy_module.py").write_text("raise AssertionError('it was loaded')\n")
    monkeypatch.syspath_prepend(tmp_path)
    spec = importlib.util.find_spec("a_lazy_module")
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "a_lazy_module", module)
    spec.loader.exec_module(module)
    modules = sorted_now(str(tmp_path / "a_lazy_module.py"))

    assert any(one is module for one in modules.users)
    assert "a_lazy_module" in modules.users_names
    assert namespace(module)["__name__"] == "a_lazy_module"


def test_module_whose_attributes_are_made_when_asked_is_not_asked(put_in_modules):
    class Lazy(types.ModuleType):
        def __getattr__(self, name):
            raise AssertionError(name)

        def __getattribute__(self, name):
            raise AssertionError(name)

    put_in_modules(lazy=Lazy("lazy"))
    sorted_now()

    assert namespace(sys.modules["lazy"])["__name__"] == "lazy"


def functions_now():
    return [frame.f_code.co_name for frame in frames_now(lambda filename: False)]


def test_frames_of_running_functions_come_from_the_innermost():
    def inner():
        return functions_now()

    found = inner()
    here = "test_frames_of_running_functions_come_from_the_innermost"

    assert found.index("functions_now") < found.index("inner") < found.index(here)


def test_code_of_a_module_has_no_frame_of_its_own():
    """Its variables are those of the module, and are told there."""
    found = {}
    exec(compile("found['now'] = look()", "x.py", "exec"), {"found": found, "look": functions_now})

    assert "<module>" not in found["now"]


def test_frames_of_other_threads_are_found():
    ready, go_on = threading.Event(), threading.Event()

    def work():
        ready.set()
        go_on.wait()

    thread = threading.Thread(target=work)
    thread.start()
    ready.wait()
    found = functions_now()
    go_on.set()
    thread.join()

    assert "work" in found


def test_frames_of_running_generators_and_coroutines_are_found():
    def generate():
        yield functions_now()

    async def wait():
        return functions_now()

    assert "generate" in next(generate())
    with pytest.raises(StopIteration) as stopped:
        wait().send(None)
    assert "wait" in stopped.value.value


def test_frames_of_ours_are_left_out():
    ours = frames_now.__code__.co_filename
    found = [frame.f_code.co_filename for frame in frames_now(lambda filename: filename == ours)]

    assert ours not in found
    assert __file__ in found


def test_variables_are_told_with_those_of_closures_and_arguments():
    outer = Thing()

    def run(argument, *rest, **named):
        local = Thing()
        frame = sys._getframe()
        return variables_of(frame), local, outer

    told, local, _ = run(1, 2, three=3)

    assert told["local"] is local
    assert told["outer"] is outer
    assert (told["argument"], told["rest"], told["named"]) == (1, (2,), {"three": 3})


def test_looking_keeps_nothing_alive_that_the_function_drops():
    gone = []

    def run():
        thing = Thing()
        gone.append(weakref.ref(thing))
        variables_of(sys._getframe())
        del thing
        return gone[0]()

    gc.disable()
    try:
        assert run() is None
    finally:
        gc.enable()


def test_looking_at_another_thread_keeps_nothing_alive_there():
    ready, looked, dropped = (threading.Event() for _ in range(3))
    gone = []

    def work():
        thing = Thing()
        gone.append(weakref.ref(thing))
        ready.set()
        looked.wait()
        del thing
        dropped.set()

    thread = threading.Thread(target=work)
    thread.start()
    ready.wait()
    [frame] = [one for one in frames_now(lambda _: False) if one.f_code is work.__code__]
    assert isinstance(variables_of(frame)["thing"], Thing)
    del frame
    looked.set()
    dropped.wait()
    thread.join()

    assert gone[0]() is None


def test_dictionary_of_locals_that_the_program_holds_stays_as_it_is():
    def run():
        thing = Thing()
        mine = locals()
        variables_of(sys._getframe())
        return mine, thing

    mine, thing = run()

    assert mine["thing"] is thing


def test_variables_can_be_set_and_deleted_after_a_look():
    def run():
        first, second = 1, 2
        variables_of(sys._getframe())
        first = 10
        del second
        variables_of(sys._getframe())
        with pytest.raises(UnboundLocalError):
            second  # noqa: B018, F821
        return first

    assert run() == 10


def test_look_while_a_tracer_is_set_leaves_the_variables_alone():
    """Up to Python 3.12 a tracer's end writes the dictionary of locals back into the function."""

    def tracer(frame, event, argument):
        return tracer

    def run():
        value = Thing()
        variables_of(sys._getframe())
        other = value
        return value, other

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        value, other = run()
    finally:
        sys.settrace(before)

    assert value is other
