"""Character devices of macvtaps, which the kernel makes and a node's own /dev lacks: device files take root."""

from nfvbed.dataplanes.macvtap import tapdevices


def test_files_of_macvtaps_follow_the_links(tmp_path):
    sysfs, devices = tmp_path / "net", tmp_path / "dev"
    devices.mkdir()
    tap = sysfs / "macvtap0" / "tap7"
    tap.mkdir(parents=True)
    (tap / "dev").write_text("249:3\n")
    (devices / "tap5").touch()
    tapdevices.mend(sysfs, devices)
    made = devices / "tap7"
    assert [path.name for path in devices.iterdir()] == ["tap7"]
    assert made.is_char_device()
    assert made.stat().st_rdev == (249 << 8) + 3
    (tap / "dev").write_text("249:4\n")
    tapdevices.mend(sysfs, devices)
    assert made.stat().st_rdev == (249 << 8) + 4
