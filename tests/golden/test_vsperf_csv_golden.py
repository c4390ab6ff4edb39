"""The export in VSPERF's columns, byte by byte. NFVBED_UPDATE_GOLDEN=1 writes it anew: read the difference then."""

import os
from pathlib import Path

from sample_records import BRIDGE, CEILINGS, CHAIN, OVS, PVP, Scenario, build

from nfvbed.compare.comparison import Options, compare
from nfvbed.records import Status
from nfvbed.report.vsperf_csv import to_vsperf_csv

PATH = Path(__file__).parent / "report" / "comparison-vsperf.csv"


def test_export_in_vsperfs_columns():
    scenario = Scenario(
        systems=(BRIDGE, OVS, *CEILINGS, *PVP, *CHAIN),
        rounds=6,
        far_rounds=(1, 2),
        changing=(),
        blocked=(("linux-bridge/p2p/1518", Status.FAILED, "=the switch ended early"),),
    )
    data = [build(scenario)]
    text = to_vsperf_csv(compare(data, Options(baseline="linux-bridge")), data)
    if os.environ.get("NFVBED_UPDATE_GOLDEN"):
        PATH.write_text(text)
    assert text == PATH.read_text(), f"{PATH} differs; NFVBED_UPDATE_GOLDEN=1 writes it anew"
