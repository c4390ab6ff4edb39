"""Sessions: they end at the server, by themselves and on demand, and no other user drives an operator's out."""

from datetime import UTC, datetime, timedelta

from nfvbed.dashboard.people.roles import Role
from nfvbed.dashboard.people.sessions import IDLE, LONGEST, MOST_SESSIONS, OF_CLIENT, Sessions, SignedInUser

NOW = datetime(2026, 1, 4, tzinfo=UTC)
WHO = SignedInUser("ann", Role.OPERATOR, NOW + timedelta(hours=1))
VIEWER = SignedInUser("", Role.VIEWER, NOW + timedelta(days=9))


def test_a_session_ends_with_keystones_token_and_after_hours():
    clock = [NOW]
    sessions = Sessions(lambda: clock[0])
    short = sessions.add(WHO)
    long = sessions.add(SignedInUser("ann", Role.OPERATOR, NOW + timedelta(days=9)))
    assert short != long and sessions.of(short) == WHO and sessions.of("") is None and sessions.of("x") is None
    while clock[0] < NOW + LONGEST:
        assert sessions.of(long) is not None
        assert (sessions.of(short) is not None) == (clock[0] < WHO.until)
        clock[0] += timedelta(minutes=30)
    assert sessions.of(long) is None


def test_one_that_nobody_uses_ends():
    clock = [NOW]
    sessions = Sessions(lambda: clock[0])
    number = sessions.add(VIEWER)
    for _ in range(3):
        clock[0] += IDLE * 0.9
        assert sessions.of(number) is not None
    for _ in range(2):
        assert sessions.of(number, use=False) is not None
        clock[0] += IDLE / 2
    assert sessions.of(number) is None


def test_signing_out_ends_it():
    sessions = Sessions(lambda: NOW)
    number, other = sessions.add(WHO), sessions.add(WHO)
    sessions.end(number)
    assert sessions.of(number) is None and sessions.of(other) is not None


def test_there_are_not_more_than_memory_has_room_for():
    sessions = Sessions(lambda: NOW)
    first = sessions.add(WHO)
    numbers = [sessions.add(WHO) for _ in range(MOST_SESSIONS)]
    assert sessions.of(first) is None and all(sessions.of(number) for number in numbers)


def test_viewers_drive_no_operator_out_and_a_client_its_own_alone():
    sessions = Sessions(lambda: NOW)
    operator, viewer = sessions.add(WHO, "a"), sessions.add(VIEWER, "b")
    own = [sessions.add(VIEWER, "c") for _ in range(MOST_SESSIONS)]
    assert sessions.of(operator) is not None and sessions.of(viewer) is not None
    assert len([number for number in own if sessions.of(number)]) == OF_CLIENT
    for number in range(MOST_SESSIONS):
        sessions.add(VIEWER, f"d{number}")
    assert sessions.of(operator) is not None and sessions.of(viewer) is None
