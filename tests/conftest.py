"""What all tests need to be true of the process that runs them."""

import signal

import pytest

# A shell without job control starts what runs in the background with Ctrl-C and SIGQUIT ignored,
# and `nohup` does so with SIGHUP. Every program would inherit that: then none could be interrupted.
for number, usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGQUIT, signal.SIG_DFL),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="make what is shown now the golden files"
    )
