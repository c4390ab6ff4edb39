"""The journal: what a killed client asked for."""

from nfvbed.cloud.tacker.journal import Journal, Note

NOTE = Note("instance", "1", "demo", "a", "cloud", "2026-11-23T00:00:00Z")


def test_lines_of_one_cloud_and_owner_are_read_back(tmp_path):
    journal = Journal(tmp_path / "run" / "onboarded.jsonl")
    assert journal.read("cloud", "demo") == ()
    others = [Note("vnf", "2", "other", "a", "cloud"), Note("vnf", "3", "demo", "a", "elsewhere")]
    for note in (NOTE, *others):
        journal.write(note)
    assert journal.read("cloud", "demo") == (NOTE,)
    assert journal.path.stat().st_mode & 0o777 == 0o600
    journal.drop("cloud", "demo")
    assert journal.read("cloud", "demo") == ()
    assert journal.read("cloud", "other") == (others[0],)


def test_one_vnf_is_forgotten_and_the_file_goes_with_the_last_line(tmp_path):
    journal = Journal(tmp_path / "onboarded.jsonl")
    other = Note("instance", "2", "demo", "b", "cloud")
    journal.write(NOTE)
    journal.write(other)
    journal.drop("cloud", "demo", "a")
    assert journal.read("cloud", "demo") == (other,)
    journal.drop("cloud", "demo", "b")
    assert not journal.path.exists()


def test_a_line_that_was_cut_off_by_a_kill_is_left_out(tmp_path):
    journal = Journal(tmp_path / "onboarded.jsonl")
    journal.write(NOTE)
    with journal.path.open("a") as file:
        file.write('{"kind": "vnf", "id"')
    assert journal.read("cloud", "demo") == (NOTE,)
