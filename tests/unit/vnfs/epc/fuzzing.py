"""What is sent to the project's own parts of a mobile core: random bytes, and good messages that were damaged."""

import hypothesis
from hypothesis import settings
from hypothesis import strategies as st

KEPT = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)
"""The same examples in every run; together they take some seconds."""
LONGEST = 200
_RANDOM = st.binary(max_size=LONGEST)


@st.composite
def _damaged(draw, good):
    """A good message with some bytes changed, cut out or put in, or cut off."""
    data = bytearray(draw(st.sampled_from(good)))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(0, len(data) - 1)))
        match draw(st.sampled_from(("change", "cut", "insert", "end"))):
            case "change" if data:
                data[place] = draw(st.integers(0, 255))
            case "cut":
                del data[place : place + draw(st.integers(1, 8))]
            case "insert":
                data[place:place] = draw(st.binary(min_size=1, max_size=8))
            case "end":
                del data[place:]
    return bytes(data)


def messages(good):
    """Random ones and damaged ones, as many of the latter again."""
    return _RANDOM | _damaged(tuple(good)) | _damaged(tuple(good))
