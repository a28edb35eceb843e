"""Ticks go into the outer loops of the user's files and change nothing else."""

import itertools
import textwrap
import traceback

import cloudpickle
import pytest

from lowwater.agent.instrumentation.loops import code_with_ticks


class Counted:
    """Stands in for the counters of an agent."""

    def __init__(self):
        self.starts, self.ends = {}, {}

    def at(self, line):
        counted = self

        class Passes:
            skipping = (itertools.repeat(0, 0),)

            def look(self):
                counted.starts[line] = counted.starts.get(line, 0) + 1

            def after_last(self):
                counted.ends[line] = counted.ends.get(line, 0) + 1

        return Passes()


def loops_of(text):
    lines, counted = [], Counted()

    def at(line):
        lines.append(line)
        return counted.at(line)

    code_with_ticks(textwrap.dedent(text).encode(), "train.py", at)
    return lines


def run(text, filename="train.py"):
    counted = Counted()
    source = textwrap.dedent(text).encode()
    namespace = {"__name__": "__main__"}
    exec(code_with_ticks(source, filename, counted.at), namespace)
    return counted, namespace


def test_each_iteration_and_the_end_are_counted():
    counted, namespace = run("""\
        seen = []
        for i in range(5):
            seen.append(i)
        """)

    assert namespace["seen"] == [0, 1, 2, 3, 4]
    assert counted.starts == {2: 5}
    assert counted.ends == {2: 1}


def test_two_levels_get_ticks_and_the_third_does_not():
    assert loops_of("""\
        for a in x:
            for b in y:
                f(b)
                for c in z:
                    g(c, h(c), k(c))
        """) == [1, 2]


def test_a_hot_inner_loop_gets_none():
    assert loops_of("""\
        for a in x:
            for b in y:
                total += f(b)
        """) == [1]


def test_a_loop_without_calls_gets_none():
    assert (
        loops_of("""\
        for a in x:
            total += a
        while n:
            n -= 1
        """)
        == []
    )


def test_while_loops_and_loops_of_functions_and_methods_get_ticks():
    assert loops_of("""\
        while True:
            step()
        def train():
            for epoch in range(9):
                fit()
        class Agent:
            def learn(self):
                while self.go():
                    pass
                for i in range(3):
                    self.act()
        """) == [1, 4, 10]


@pytest.mark.parametrize(
    "decorator",
    ["@tf.function", "@njit", "@numba.njit(parallel=True)", "@jax.jit", "@torch.compile"],
)
def test_functions_that_a_compiler_reads_are_left_alone(decorator):
    assert loops_of(f"{decorator}\ndef f(x):\n    for i in x:\n        g(i)\n") == []


@pytest.mark.parametrize(
    "decorator", ["@click.command()", "@hydra.main(config_path=None)", "@timed"]
)
def test_other_decorated_functions_are_watched(decorator):
    assert loops_of(f"{decorator}\ndef main(x):\n    for i in x:\n        g(i)\n") == [3]


def test_a_file_that_uses_numba_keeps_its_functions_as_they_are():
    assert loops_of("""\
        import numba
        def kernel(x):
            for i in x:
                g(i)
        fast = numba.njit(kernel)
        for epoch in range(3):
            fast(x)
        """) == [6]


@pytest.mark.parametrize("call", ["Lambda(f)", "layers.Lambda(function=f, name='x')"])
def test_a_function_that_is_saved_with_a_model_is_left_alone(call):
    source = "def f(x):\n    for i in x:\n        g(i)\ndef h(x):\n    for i in x:\n        g(i)\n"

    assert loops_of(f"{source}layer = {call}\n") == [5]


def test_generators_and_layers_are_left_alone():
    assert (
        loops_of("""\
        def batches():
            while True:
                yield load()
        class Block(Layer):
            def call(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x
            def __init__(self):
                for n in range(3):
                    self.add(n)
        async def stream():
            async for i in source:
                yield f(i)
        """)
        == []
    )


def test_loops_of_coroutines_get_ticks():
    counted, namespace = run("""\
        import asyncio
        async def source():
            yield 1
            yield 2
        seen = []
        async def main():
            for i in range(3):
                await asyncio.sleep(0)
            async for i in source():
                seen.append(i)
        asyncio.run(main())
        """)

    assert namespace["seen"] == [1, 2]
    assert counted.starts == {7: 3, 9: 2}


def test_a_function_around_a_generator_is_still_watched():
    assert loops_of("""\
        def train():
            def batches():
                yield load()
            for batch in batches():
                step(batch)
        """) == [4]


def test_break_continue_and_else_work_as_before():
    counted, namespace = run("""\
        out = []
        for i in range(10):
            if i == 2:
                continue
            if i == 4:
                break
            out.append(i)
        else:
            out.append("else")
        for i in range(2):
            out.append("x")
        else:
            out.append("else")
        """)

    assert namespace["out"] == [0, 1, 3, "x", "x", "else"]
    assert counted.starts == {2: 5, 10: 2}


def test_docstrings_and_future_imports_stay_first():
    _, namespace = run("""\
        "About."
        from __future__ import annotations
        def f(x: Nowhere):
            "Does it."
            for i in range(2):
                str(i)
        f(1)
        """)

    assert namespace["__doc__"] == "About."
    assert namespace["f"].__doc__ == "Does it."
    assert namespace["f"].__annotations__ == {"x": "Nowhere"}


def test_tracebacks_are_the_same_to_the_letter(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(
        textwrap.dedent("""\
        def outer(n):
            for i in range(n):
                for j in range(n):
                    inner(i, 1 / (2 - i))


        def inner(i, x):
            return i + x


        for epoch in range(3):
            outer(epoch + 3)
        """)
    )

    def traceback_of(code):
        try:
            exec(code, {"__name__": "__main__"})
        except ZeroDivisionError as error:
            return traceback.format_exception(error.with_traceback(error.__traceback__.tb_next))

    source = path.read_bytes()
    plain = traceback_of(compile(source, str(path), "exec"))
    ticking = traceback_of(code_with_ticks(source, str(path), Counted().at))

    assert "ZeroDivisionError" in plain[-1]
    assert ticking == plain


def test_no_name_is_added_to_the_program():
    _, namespace = run("for i in range(2):\n    str(i)\n")

    assert set(namespace) - {"__builtins__"} == {"__name__", "i"}


class AfterRounds:
    """Leaves a loop after some rounds, and counts how often it was entered."""

    def __init__(self, rounds):
        self._rounds = rounds
        self._left = rounds
        self.entered = 0

    def begin(self):
        self.entered += 1
        self._left = self._rounds

    def is_over(self):
        self._left -= 1
        return self._left < 0


def run_limited(source, **rounds):
    limits = {int(line.removeprefix("line_")): AfterRounds(most) for line, most in rounds.items()}
    namespace = {}
    code = code_with_ticks(
        textwrap.dedent(source).encode(),
        "train.py",
        Counted().at,
        lambda _, first, __: limits.get(first, AfterRounds(1000)),
    )
    exec(code, namespace)
    return namespace, limits


def test_loops_can_be_left_early_each_time_that_they_are_entered():
    namespace, limits = run_limited(
        """\
        rounds, steps = [], []
        for number in range(100):
            rounds.append(number)
            for step in range(30):
                steps.append(step), steps.append(step), steps.append(step)
        after = True
        """,
        line_2=2,
        line_4=5,
    )

    assert namespace["rounds"] == [0, 1]
    assert len(namespace["steps"]) == 3 * 5 * 2
    assert namespace["after"]
    assert [limits[2].entered, limits[4].entered] == [1, 2]


def test_loop_with_an_else_is_not_left_early():
    namespace, _ = run_limited(
        """\
        rounds = []
        for number in range(9):
            rounds.append(number)
        else:
            ended = True
        """,
        line_2=2,
    )

    assert len(namespace["rounds"]) == 9
    assert namespace["ended"]


def test_limit_knows_the_lines_of_its_loop():
    asked = []

    def limit_of(filename, first, last):
        asked.append((filename, first, last))
        return AfterRounds(9)

    code_with_ticks(b"for i in range(3):\n    str(i)\n    str(i)\n", "a.py", Counted().at, limit_of)

    assert asked == [("a.py", 1, 3)]


def test_function_whose_loop_can_be_left_is_sent_to_another_process_without_its_limit():
    namespace = {"__name__": "program"}
    source = b"def work():\n    for i in range(9):\n        str(i)\n    return i\n"
    code = code_with_ticks(source, "train.py", Counted().at, lambda *_: AfterRounds(2))
    exec(code, namespace)

    sent = cloudpickle.loads(cloudpickle.dumps(namespace["work"]))

    assert namespace["work"]() == 2  # the target of the loop was taken before it was left
    assert sent() == 8
