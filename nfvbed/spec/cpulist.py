"""Lists of cores as the kernel writes them: `0-2,8` is 0, 1, 2, 8."""


def parse_cpu_list(text: str) -> tuple[int, ...]:
    """Return the cores of a list in rising order, each once.

    Raises:
        ValueError: it is no such list.
    """
    cores: set[int] = set()
    for part in text.strip().split(","):
        if part:
            first, _, last = part.partition("-")
            cores.update(range(int(first), int(last or first) + 1))
    return tuple(sorted(cores))


def format_cpu_list(cores: tuple[int, ...]) -> str:
    """Write a list, runs as `first-last`."""
    runs: list[list[int]] = []
    for core in cores:
        if runs and runs[-1][1] == core - 1:
            runs[-1][1] = core
        else:
            runs.append([core, core])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
