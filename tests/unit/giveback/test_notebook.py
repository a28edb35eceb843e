"""A receipt and the output cache in a real IPython, in a process of its own."""

import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("IPython")

BEGINNING = """
    import gc, os, tempfile, weakref
    os.environ["IPYTHONDIR"] = tempfile.mkdtemp()
    from IPython.core.interactiveshell import InteractiveShell
    import lowwater

    shell = InteractiveShell.instance()

    def cell(text):
        done = shell.run_cell(textwrap.dedent(text), store_history=True)
        done.raise_error()
        return done.result

    import textwrap
    cell('''
        import lowwater, weakref
        class Net:
            pass
    ''')
"""


def notebook(text):
    program = textwrap.dedent(BEGINNING) + textwrap.dedent(text)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_outputs_are_dropped_only_when_asked_for():
    lines = notebook("""
        cell("net = Net(); seen = weakref.ref(net)")
        cell("net")
        cell("del net")
        cell("kept = lowwater.release(); kept = [seen() is not None]")
        cell("receipt = lowwater.release(notebook=True)")
        cell("print('ALIVE', kept, seen() is not None, len(Out))")
    """)

    assert "ALIVE [True] False 0" in lines


def test_receipt_is_shown_as_a_table():
    lines = notebook("""
        receipt = cell("lowwater.release()")
        shown, _ = shell.display_formatter.format(receipt)
        print("KINDS", sorted(shown))
        print("HTML", shown["text/html"].startswith("<div><b>released: "))
    """)

    assert "KINDS ['text/html', 'text/plain']" in lines
    assert "HTML True" in lines


def test_block_in_a_cell_has_its_variables_and_spares_what_the_cell_reads():
    """A later cell cannot be seen: there `keep` says that a model is wanted."""
    lines = notebook('''
        from lowwater.giveback.block import Block

        class Ours:
            """As the library does it: from a file of ours, for our own frames are passed over."""

        source = """
        class Ours:
            def __enter__(self):
                self.block = Block()
                return self
            def __exit__(self, *_):
                self.names = sorted(self.block.variables()[0])
        """
        space = {"Block": Block}
        exec(compile(textwrap.dedent(source), Block.__init__.__code__.co_filename, "exec"), space)
        shell.user_ns["Ours"] = space["Ours"]
        cell("""
            for number in range(2):
                with Ours() as around:
                    net = Net()
                    best = net
            print("OWN", around.names, best.__class__.__name__)
            """)
        cell("""
            with Ours() as around:
                net = Net()
            get_ipython().run_line_magic("time", "str(net)")
            print("MAGIC", around.names)
            """)
        cell("""
            def show():
                return other
            """)
        cell("""
            with Ours() as around:
                net = other = third = Net()
            print("OWN", around.names)
            """)
    ''')

    assert "OWN ['net'] Net" in lines
    assert "MAGIC []" in lines
    assert "OWN ['third']" in lines
