"""Ctrl-C and SIGTERM: one way out, and not in the middle of what must not be torn."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def signals_held() -> Iterator[None]:
    """Keep SIGINT, SIGTERM and SIGHUP waiting until the block has ended; they are delivered then.

    Handlers are exchanged rather than signals blocked: a blocked signal would be taken by another thread, and Python
    would still raise KeyboardInterrupt in the main one; and children would inherit the mask.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # handlers run in the main thread only
        return
    arrived: list[int] = []
    before = {number: signal.getsignal(number) for number in _ENDING}
    try:
        for number in _ENDING:
            signal.signal(number, lambda number, _frame: arrived.append(number))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
        for arrived_number in dict.fromkeys(arrived):
            signal.raise_signal(arrived_number)


def end_like_interrupt() -> None:
    """Let SIGTERM and SIGHUP end nfvbed as Ctrl-C does, through the clean-up, where they have their default action."""
    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread may set handlers
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
