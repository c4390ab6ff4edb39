"""Signals wait while they are held, and are delivered after."""

import os
import signal
import subprocess
import sys
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


SWALLOWS = """
import os, signal, sys, time
from nfvbed.signals import end_like_interrupt

class Dies:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0)

end_like_interrupt()
Dies()
time.sleep(30)
"""


def test_an_interrupt_in_a_finalizer_comes_again():
    done = subprocess.run([sys.executable, "-c", SWALLOWS], capture_output=True, text=True, timeout=20, check=False)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (-signal.SIGINT, "KeyboardInterrupt")
    assert "ignored" not in done.stderr


def test_other_exceptions_that_cannot_be_raised_are_shown_as_before():
    program = SWALLOWS.replace("os.kill(os.getpid(), signal.SIGINT)", "1 / 0").replace("time.sleep(30)", "")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 0
    assert done.stderr.startswith("Exception ignored in: <function Dies.__del__")
    assert "ZeroDivisionError" in done.stderr
