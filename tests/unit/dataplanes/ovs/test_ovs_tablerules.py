"""Rules of several tables as bytes: by hand from the specification and from Open vSwitch's nicira-ext.h."""

from nfvbed.dataplanes.ovs import openflow, tablerules
from nfvbed.dataplanes.ovs.tablerules import Field, TableRule, flow_mod


def test_rule_of_a_table_with_masked_field_and_next_table():
    rule = TableRule(20, 150, (Field("eth_type", 0x0800), Field("ipv4_src", 0xAC100100, 0xFFFFFF00)), goto=25)
    body = flow_mod(rule).hex()
    assert body[32:36] == "1400", "table 20, add"
    assert body[44:48] == "0096", "priority"
    assert body[80:] == (
        "00010016"
        "80000a020800"  # eth_type
        "80001708ac100100ffffff00"  # ipv4_src with mask
        "0000"  # padding of 22 bytes to 24
        "0001000819000000"  # go to table 25
    )


def test_rule_without_instruction_drops():
    assert flow_mod(TableRule(0, 1)).hex()[80:] == "0001000400000000"


def test_connection_is_tracked_and_goes_on_in_a_table():
    assert tablerules.track(zone=101, table=45).hex() == (
        "ffff001800002320"
        "0023"  # NXAST_CT
        "0000"  # no flags
        "00000000"
        "0065"  # zone, immediate
        "2d"  # table 45
        "000000"
        "0000"  # no helper
    )


def test_connection_is_committed_with_a_mark():
    assert tablerules.commit(zone=1, mark=1).hex() == (
        "ffff002800002320"
        "0023"
        "0001"  # commit
        "00000000"
        "0001"
        "ff"  # no table
        "000000"
        "0000"
        "00190010"  # set field
        "0001d604"
        "00000001"
        "00000000"
    )


def test_fields_are_set():
    assert tablerules.set_field("tunnel_id", 5001).hex() == "0019001080004c080000000000001389"
    assert tablerules.set_field("reg0", 2).hex() == "00190010000100040000000200000000"


def test_bundle_holds_messages_of_its_transaction():
    assert tablerules.bundle_control(1, tablerules.BUNDLE_OPEN).hex() == "0000000100000003"
    assert tablerules.bundle_control(1, tablerules.BUNDLE_COMMIT).hex() == "0000000100040003"
    body = flow_mod(TableRule(0, 1))
    added = tablerules.bundle_add(1, 7, body)
    assert added.hex()[:16] == "0000000100000003"
    assert added[8:] == openflow.message(openflow.FLOW_MOD, 7, body)
