"""Files that a box is given in place of Kolla's: each has lines that its reader takes."""

import re

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.sites.kolla import boxglobals

# libvirt, src/util/virconf.c: a statement is a name, `=`, and a string, a number or a list.
STATEMENT = re.compile(r'[a-z][a-z0-9_]* = (?:"[^"]*"|\d+|\[\]|\{\{ [a-z_]+ \}\})')


def test_each_line_of_the_driver_s_settings_is_a_statement(root):
    files = boxglobals.files(open_project(root).load_site("box"))
    lines = files[boxglobals.QEMU_FILE].splitlines()
    assert len(lines) == 8
    assert [line for line in lines if not STATEMENT.fullmatch(line)] == []
