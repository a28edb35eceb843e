"""Each program has a mark; told is which variables it may read from there on."""

import sys
import textwrap

import pytest

from lowwater.giveback.liveness import read_later, reads_attribute

FILE = "train.py"


def told(body, *names, is_module=False, name=None, earlier=""):
    """What `mark()` sees in this program, which runs as a function or as a module."""
    found = {}

    def mark():
        found.update(read_later(sys._getframe(1), names))

    text = textwrap.dedent(body)
    if not is_module:
        text = "def main(many=(1, 2)):\n" + textwrap.indent(text, "    ") + "\nmain()\n"
    space = {"mark": mark, "use": lambda *_: None, "failing": _fail}
    if name is not None:
        space["__name__"] = name
    exec(earlier, space)
    exec(compile(text, FILE, "exec"), space)
    return found


def _fail():
    raise ValueError


def is_read(body, name="best", **options):
    return name in told(body, name, **options)


def test_what_is_read_after_the_mark_is_told_with_its_line():
    found = told("best = other = 1\nmark()\n\nuse(best)", "best", "other")

    assert found == {"best": "read later, train.py:5"}


def test_the_nearest_line_is_told():
    found = told("best = 1\nmark()\nuse(best)\nuse(best)", "best")

    assert found == {"best": "read later, train.py:4"}


READ = {
    "after the loop": """
        for number in many:
            best = number
            mark()
        use(best)
        """,
    "in the next round": """
        best = None
        for number in many:
            use(best)
            best = number
            mark()
        """,
    "on one of two ways": """
        best = 1
        mark()
        if many:
            best = 2
        use(best)
        """,
    "in the else of a while": """
        count = 2
        while count:
            best = count = count - 1
            mark()
        else:
            use(best)
        """,
    "after a break": """
        while True:
            best = 1
            mark()
            if best:
                break
            best = 2
        use(best)
        """,
    "in a finally": """
        try:
            best = 1
            mark()
        finally:
            use(best)
        """,
    "in a finally, on return": """
        try:
            best = 1
            mark()
            return
        finally:
            use(best)
        """,
    "by a handler, before it could be bound anew": """
        best = 1
        mark()
        try:
            best = failing()
        except ValueError:
            use(best)
        """,
    "in a nested with": """
        import contextlib
        best = 1
        mark()
        with contextlib.nullcontext():
            with contextlib.suppress(ValueError):
                use(best)
        """,
    "in a comprehension": """
        best = 1
        mark()
        use([best for _ in many])
        """,
    "by what a comprehension goes through, in a variable of the same name": """
        best = [1]
        mark()
        use([best for best in best])
        """,
    "after a comprehension with a variable of the same name": """
        best = 1
        mark()
        use([best for best in many])
        use(best)
        """,
    "in the same line as such a comprehension": """
        best = 1
        mark()
        use([best for best in many], best)
        """,
    "in a generator expression": """
        best = 1
        mark()
        use(best for _ in many)
        """,
    "by a function that is made later": """
        best = 1
        mark()
        use(lambda: best)
        """,
    "by a match": """
        best = 1
        mark()
        match best:
            case 1:
                pass
        """,
    "in a guard": """
        best = 1
        mark()
        match many:
            case [1] if best:
                pass
        """,
    "before it is deleted": """
        best = 1
        mark()
        use(best)
        del best
        """,
    "by adding to it": """
        best = 1
        mark()
        best += 1
        """,
    "by locals()": """
        best = 1
        mark()
        use(locals())
        """,
    "by eval": """
        best = 1
        mark()
        eval("1")
        """,
}
NOT_READ = {
    "nowhere": """
        best = 1
        use(best)
        mark()
        """,
    "bound anew in the next round": """
        for number in many:
            best = number
            use(best)
            mark()
        """,
    "bound anew on all ways": """
        best = 1
        mark()
        if many:
            best = 2
        else:
            best = 3
        use(best)
        """,
    "deleted": """
        best = 1
        mark()
        del best
        """,
    "bound anew by a walrus": """
        best = 1
        mark()
        if (best := 2):
            use(best)
        """,
    "bound anew by a match": """
        best = 1
        mark()
        match many:
            case best:
                use(best)
        """,
    "bound anew by unpacking": """
        best = 1
        mark()
        first, best = many
        use(best)
        """,
    "bound anew by a with": """
        import contextlib
        best = 1
        mark()
        with contextlib.nullcontext(2) as best:
            use(best)
        """,
    "the variable of a comprehension": """
        best = 1
        mark()
        use([best for best in many], {best: best for best in many})
        """,
    "the parameter of a function": """
        best = 1
        mark()
        use(lambda best: best)
        """,
    "an attribute of the same name": """
        best = 1
        mark()
        use(many.count).best if not many else None
        """,
    "after the end": """
        best = 1
        mark()
        return
        use(best)
        """,
    "eval has been called before": """
        best = eval("1")
        mark()
        """,
    "an argument of the same name": """
        best = 1
        mark()
        dict(best=2, eval=3)
        """,
}


@pytest.mark.parametrize("body", READ.values(), ids=READ)
def test_read(body):
    assert is_read(body)


@pytest.mark.parametrize("body", NOT_READ.values(), ids=NOT_READ)
def test_not_read(body):
    assert not is_read(body)


# A function shares them with the one around it, and a module is no function.
ONLY_IN_FUNCTIONS = {"in a finally, on return", "after the end"}


@pytest.mark.parametrize("body", [READ[one] for one in READ if one not in ONLY_IN_FUNCTIONS])
def test_read_in_a_module(body):
    assert is_read("many = (1, 2)\n" + textwrap.dedent(body), is_module=True)


@pytest.mark.parametrize(
    "body", [NOT_READ[one] for one in NOT_READ if one not in ONLY_IN_FUNCTIONS]
)
def test_not_read_in_a_module(body):
    assert not is_read("many = (1, 2)\n" + textwrap.dedent(body), is_module=True)


def test_generator_is_followed_beyond_a_yield():
    assert is_read("""
        def steps():
            best = 1
            mark()
            yield
            use(best)
        list(steps())
        """)


def test_free_variable_is_left_to_the_function_around():
    found = told(
        """
        best = None
        def trial():
            nonlocal best
            best = 1
            mark()
        trial()
        """,
        "best",
    )

    assert found == {"best": "shared with the function around `trial()`"}


def test_exception_that_leaves_is_followed_to_its_handler():
    assert is_read("""
        try:
            try:
                best = 1
                failing()
            finally:
                mark()
        except ValueError:
            use(best)
        """)


def test_function_of_the_module_reads_its_variables():
    text = "def show():\n    return best\nbest = model = 1\nmark()\n"

    assert told(text, "best", "model", is_module=True) == {"best": "read by `show()`, train.py:2"}


def test_function_of_the_module_that_looks_at_all_names_reads_all():
    text = "def show():\n    return globals()\nbest = 1\nmark()\n"

    assert is_read(text, is_module=True)


def test_function_from_another_cell_reads_the_variables_of_a_notebook():
    earlier = "def show(): return best\nclass A:\n  def show(self): return model"
    text = "best = model = other = 1\nmark()\n"

    found = told(text, "best", "model", "other", is_module=True, earlier=earlier)

    assert {*found} == {"best", "model"}


def test_name_of_a_class_is_read_by_whoever_has_the_class():
    assert is_read("class A:\n    best = 1\n    mark()\n", is_module=True)


def test_module_that_can_be_imported_is_read_by_others(monkeypatch):
    module = type(sys)("trial_of_mine")
    monkeypatch.setitem(sys.modules, "trial_of_mine", module)
    found = {}
    vars(module)["mark"] = lambda: found.update(read_later(sys._getframe(1), ["best"]))

    exec("best = 1\nmark()\n", vars(module))

    assert found == {"best": "a name in module `trial_of_mine`, which others may import"}


def test_program_itself_is_not_imported():
    assert not is_read("best = 1\nmark()\n", is_module=True, name="__main__")


def test_attribute_is_seen_in_inner_functions_too():
    frame = sys._getframe()

    assert reads_attribute(frame, "argval") is False
    assert (lambda: frame.f_back) is not None
    assert reads_attribute(frame, "f_back")
