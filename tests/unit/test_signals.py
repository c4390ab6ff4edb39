"""Signals wait while they are held, and are delivered after."""

import os
import signal
import threading

import pytest

from nfvbed.signals import end_like_interrupt, signals_held


def test_interrupt_waits_for_the_end_of_the_block():
    steps = []
    with pytest.raises(KeyboardInterrupt), signals_held():
        os.kill(os.getpid(), signal.SIGINT)
        with signals_held():
            os.kill(os.getpid(), signal.SIGINT)
            steps.append("inner")
        steps.append("outer")
    assert steps == ["inner", "outer"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_are_left_alone():
    def body():
        with signals_held():
            results.append(signal.getsignal(signal.SIGINT))

    results = []
    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert results == [signal.default_int_handler]


def test_sigterm_ends_like_an_interrupt():
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGHUP)
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        end_like_interrupt()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
            signal.pause()
    finally:
        signal.signal(signal.SIGTERM, before[0])
        signal.signal(signal.SIGHUP, before[1])
