import sys
import types
from contextlib import ExitStack

from lowwater.giveback.block import Block

# As the library does it: from a file of ours, for our own frames are passed over.
SOURCE = """
class Around:
    def __enter__(self):
        self.block = Block()
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.block.end()
        self.names = sorted({*self.block.variables()[0]} - {"around", "first", "second"})
"""
SPACE = {"Block": Block}
exec(compile(SOURCE, Block.__init__.__code__.co_filename, "exec"), SPACE)
Ours = SPACE["Around"]


def run(text):
    space = {"Ours": Ours, "ExitStack": ExitStack, "told": []}
    exec(compile(text, "/home/me/train.py", "exec"), space)
    return space["told"]


def test_variables_bound_inside_only_are_the_blocks():
    def main():
        best = before = None
        for number in range(2):
            with Ours() as around:
                model, *rest = [number, before]
                best = model
                rest.append(best)
        return around.names

    assert main() == ["model", "rest"]


def test_variable_that_is_read_after_the_block_is_not_the_blocks():
    def main():
        for number in range(2):
            with Ours() as around:
                model = number
                best = model
        return around, best

    around, _ = main()

    assert around.names == ["model"]
    assert around.block.read_later["best"].startswith("read later, ")


def test_module_reads_what_its_loop_has_found():
    told = run("""
for number in range(3):
    with Ours() as around:
        model = number
        if number == 1:
            best = model
    told.append(around.names)
print(best, end="")
""")

    assert told == [["model"]] * 3


class History:
    """Stands for that of Keras, which refers to the model."""


def test_history_that_is_read_for_its_numbers_is_the_blocks(monkeypatch):
    monkeypatch.setitem(sys.modules, "keras.callbacks", types.SimpleNamespace(History=History))

    def main():
        with Ours() as around:
            history = History()
        return around.names, history

    def asks():
        with Ours() as around:
            history = History()
            history.model = 1
        return around.names, history.model

    assert main()[0] == ["history"]
    assert asks()[0] == []


def test_parameters_are_not_the_blocks():
    def main(model, *args, key=None, **options):
        with Ours() as around:
            model = args = key = options = 1
            own = [model, args, key, options]
            own.clear()
        return around.names

    assert main(1) == ["own"]


def test_name_that_is_bound_again_after_the_block_is_the_blocks():
    def main():
        with Ours() as around:
            model = 1
        names = around.names
        model = 3
        return names, model

    assert main()[0] == ["model"]


def test_two_blocks_may_use_the_same_name():
    def main():
        best = None
        with Ours() as first:
            model = best = 1
        with Ours() as second:
            model = best = 2
            str(model)
        return first.names, second.names, best

    assert main()[:2] == (["model"], ["model"])


def failing(value):
    raise ValueError(value)


def test_block_that_is_left_by_an_exception_has_its_variables():
    def main():
        try:
            with Ours() as around:
                model = 1
                failing(model)
        except ValueError:
            return around.names

    assert main() == ["model"]


def test_exit_stack_is_seen_through():
    def main():
        with ExitStack() as stack:
            around = stack.enter_context(Ours())
            model = 1
            str(model)
        return around.names

    assert "model" in main()


def test_module_has_its_own_names_in_every_round():
    told = run("""
best = None
for number in range(3):
    with Ours() as around:
        model = number
        best = model
    told.append(around.names)
""")

    assert told == [["model"]] * 3


def test_block_in_another_frame_has_no_variables():
    def leave(around):
        around.__exit__(None, None, None)

    def main():
        around = Ours()
        around.__enter__()
        model = 1
        leave(around)
        return around.names, model

    assert main()[0] == []
