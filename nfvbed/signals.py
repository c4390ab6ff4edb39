"""Ctrl-C and SIGTERM: one way out, and not in the middle of what must not be torn."""

import _thread
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_AGAIN_S = 0.01
"""How long after an interrupt was lost in C code it comes again."""
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_held: list[list[int]] = []
"""Signals that arrived in each block that holds them, the innermost last."""


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
    _held.append(arrived)
    before = {number: signal.getsignal(number) for number in _ENDING}
    try:
        for number in _ENDING:
            signal.signal(number, lambda number, _frame: arrived.append(number))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
        _held[:] = [other for other in _held if other is not arrived]
        for arrived_number in dict.fromkeys(arrived):
            signal.raise_signal(arrived_number)


def signal_waits() -> bool:
    """Return whether a signal has arrived that a block holds back: work that can end early should end."""
    return any(_held)


def end_like_interrupt() -> None:
    """Let SIGTERM and SIGHUP end nfvbed as Ctrl-C does, through the clean-up, where they have their default action.

    And let no interrupt be lost: see `_LostInterrupts`.
    """
    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread may set handlers
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
    if not isinstance(sys.unraisablehook, _LostInterrupts):
        sys.unraisablehook = _LostInterrupts(sys.unraisablehook)


class _LostInterrupts:
    """An `sys.unraisablehook` that sends an interrupt again which C code could not pass on.

    Python raises KeyboardInterrupt wherever it is: also in a finalizer, or in a comparison that C code makes, as
    pydantic's does, which have nowhere to raise it. Python then shows "Exception ignored in", and goes on.
    """

    def __init__(self, otherwise: Callable[[Any], Any]) -> None:
        self._otherwise = otherwise

    def __call__(self, unraisable: Any, /) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            # Not from here, which has nowhere to raise it either; no lock of Python's may be waited for here.
            _thread.start_new_thread(_interrupt_again, ())
        else:
            self._otherwise(unraisable)


def _interrupt_again() -> None:
    time.sleep(_AGAIN_S)
    for number in _ENDING:
        if signal.getsignal(number) not in (signal.SIG_IGN, signal.SIG_DFL, None):
            # To the main thread, so that a call in which it waits ends.
            signal.pthread_kill(threading.main_thread().ident or 0, number)
            return
