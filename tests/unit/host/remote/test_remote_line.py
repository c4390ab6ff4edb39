"""Argument lists for another host: a shell gives back every word as it was."""

import subprocess

import pytest

from nfvbed.errors import InternalError
from nfvbed.host.remote.line import MAX_LINE_BYTES, TRY_OUT, ending_in_time, remote_line

WORDS = [
    "two words",
    "",
    "it's",
    'a "quoted" word',
    "$(id) `id` ${HOME} $HOME",
    "new\nline\ttab",
    "back\\slash \\n",
    "*? [a-z] {a,b} ~root",
    "; rm -rf /tmp/none && true | false > out < in & #",
    "!history !!",
    "-o ProxyCommand=id",
    "--",
    "grüße ✓",
    TRY_OUT,
]


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_a_shell_gives_back_every_word_as_it_was(shell: str):
    line = remote_line(["printf", "%s\\0", *WORDS])
    done = subprocess.run([shell, "-c", line], capture_output=True, check=True, timeout=20)
    assert done.stdout.decode().split("\0")[:-1] == WORDS


@pytest.mark.parametrize(
    ("argv", "message"),
    [([], "empty"), (["echo", "a\0b"], "zero byte"), (["echo", "x" * MAX_LINE_BYTES], "too long")],
)
def test_what_no_line_can_hold_is_refused(argv: list[str], message: str):
    with pytest.raises(InternalError, match=message):
        remote_line(argv)


def test_a_command_is_ended_by_its_own_host():
    assert ending_in_time(["sleep", "9"], 1.5) == ["timeout", "--kill-after=2", "1.5", "sleep", "9"]
