"""Opens files and becomes another program, which inherits them: `launch.py FD=PATH... -- PROGRAM ARGUMENT...`.

QEMU takes a macvtap device as an open file alone. It is run as a script, and so imports nothing of nfvbed.
"""

import os
import sys
from collections.abc import Sequence


def main(words: Sequence[str]) -> None:
    """Open each path for reading and writing under its number, and execute the program."""
    split = words.index("--")
    for word in words[:split]:
        number, _, path = word.partition("=")
        handle = os.open(path, os.O_RDWR)
        os.dup2(handle, int(number), inheritable=True)
        if handle != int(number):
            os.close(handle)
    program = words[split + 1 :]
    os.execv(program[0], list(program))


if __name__ == "__main__":
    main(sys.argv[1:])
