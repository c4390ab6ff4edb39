#!/usr/bin/python
"""Sets columns of Open vSwitch's database: only what differs is written, and what was there before can be put back.

Open vSwitch may be in a container: `vsctl` is the whole command that reaches it. A journal on the machine keeps the
values from before the first change, and which changes a daemon that runs has not taken yet.
"""

import json
import os
import re
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = """
module: nfvbed_ovs_settings
short_description: Set columns of Open vSwitch's database, with a way back
description:
  - Reads a record, writes what differs, and keeps what was there before in a journal.
options:
  vsctl:
    description: Command that is ovs-vsctl, as a list of arguments.
    type: list
    elements: str
    required: true
  table:
    description: Table of the database.
    type: str
  record:
    description: Name of the record in that table.
    type: str
  values:
    description: Values by column, or by C(column:key) where the column is a map. None removes it.
    type: dict
    default: {}
  restart_for:
    description: Names among the values that the daemon reads only when it starts.
    type: list
    elements: str
    default: []
  journal:
    description: File of the machine that keeps what was there before.
    type: path
    required: true
  state:
    description:
      - C(present) sets the values. C(settled) notes that the daemon was started since. C(restored) puts back all that
        the journal has, and removes it.
    type: str
    choices: [present, settled, restored]
    default: present
"""

EXAMPLES = """
- name: Set the mask of the polling threads' cores
  nfvbed_ovs_settings:
    vsctl: [docker, exec, ovsdpdk_db, ovs-vsctl]
    table: Open_vSwitch
    record: .
    values: {"other_config:pmd-cpu-mask": "0x4"}
    journal: /var/lib/nfvbed/ovs-dpdk.json
"""

RETURN = """
changes:
  description: What was set, with the value before and the value after.
  type: dict
  returned: always
restart:
  description: Whether a daemon that runs has not taken something yet.
  type: bool
  returned: always
"""

WAIT_S = 60
NUMBER = re.compile(r"-?[0-9]+")


class Failed(Exception):
    """A command of Open vSwitch's failed, or its output cannot be parsed."""


class Database:
    """Open vSwitch's database, by its own program."""

    def __init__(self, module, vsctl):
        self._module = module
        self._vsctl = vsctl

    def read(self, table, record, columns):
        """Return the columns of a record: maps as dictionaries, all others as texts; None: the record is not there."""
        shown = ["--format=json", "--columns=" + ",".join(columns), "--if-exists", "list", table, record]
        rows = json.loads(self._run(shown))["data"]
        return {column: plain(value) for column, value in zip(columns, rows[0], strict=True)} if rows else None

    def write(self, table, record, values, wait):
        """Set and remove values of a record, in one transaction; where asked for, wait until the daemon has seen it."""
        words = []
        for name, value in sorted(values.items()):
            column, _, key = name.partition(":")
            if value is None:
                words += ["--", *(("remove", table, record, column, key) if key else ("clear", table, record, column))]
            else:
                words += ["--", "set", table, record, f"{quoted(column, key)}={written(key, value)}"]
        self._run([f"--timeout={WAIT_S}", *([] if wait else ["--no-wait"]), *words])

    def _run(self, arguments):
        status, out, error = self._module.run_command([*self._vsctl, *arguments])
        if status:
            raise Failed(f"{' '.join([*self._vsctl, *arguments])}: exit status {status}: {error.strip()[:400]}")
        return out


def plain(value):
    """Return OVSDB's JSON (RFC 7047) as a dictionary or a text; an empty set is None."""
    if isinstance(value, list) and value and value[0] == "map":
        return {key: text(one) for key, one in value[1]}
    if isinstance(value, list) and value and value[0] == "set":
        return ",".join(text(one) for one in value[1]) or None
    return text(value)


def text(value):
    """Return a value as Open vSwitch's program writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return value[1] if isinstance(value, list) else str(value)


def quoted(column, key):
    """Return what is left of the sign of equality."""
    return f"{column}:{json.dumps(key)}" if key else column


def written(key, value):
    """Return a value as ovs-vsctl reads it: texts in quotation marks, numbers of columns as they are."""
    return value if not key and NUMBER.fullmatch(value) else json.dumps(value)


def as_text(value):
    """Return what a playbook gives as Open vSwitch has it."""
    return None if value is None else text(value)


class Journal:
    """What was there before, by table, record and name; and what the daemon has not read yet."""

    def __init__(self, path):
        self._path = Path(path)
        try:
            self.kept = json.loads(self._path.read_text())
        except FileNotFoundError:
            self.kept = {"before": [], "unsettled": []}
        except ValueError as failure:
            advice = "remove it, and what was there before is forgotten"
            raise Failed(f"{path} is damaged: {failure}; {advice}") from failure

    def keep(self, table, record, before, unsettled):
        """Keep values that no earlier change has kept."""
        known = {tuple(one[:3]) for one in self.kept["before"]}
        for name, value in sorted(before.items()):
            if (table, record, name) not in known:
                self.kept["before"].append([table, record, name, value])
        self.kept["unsettled"] = sorted({*self.kept["unsettled"], *unsettled})

    def save(self):
        """Write it, so that a machine that lost its power has the old one or the new one."""
        self._path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        new = self._path.with_name(self._path.name + ".new")
        with new.open("w") as file:
            json.dump(self.kept, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._path)

    def remove(self):
        """Forget everything."""
        self._path.unlink(missing_ok=True)


def differing(database, table, record, wanted):
    """Return what is otherwise than wanted: values before, by name."""
    columns = sorted({name.partition(":")[0] for name in wanted})
    there = database.read(table, record, columns)
    if there is None:
        raise Failed(f"Open vSwitch has no {record} in its table {table}")
    found = {}
    for name, value in wanted.items():
        column, _, key = name.partition(":")
        before = (there[column] or {}).get(key) if key else there[column]
        if before != value:
            found[name] = before
    return found


def present(module, database, journal):
    """Set what differs."""
    table, record = module.params["table"], module.params["record"]
    wanted = {name: as_text(value) for name, value in module.params["values"].items()}
    before = differing(database, table, record, wanted) if wanted else {}
    unsettled = sorted(set(before) & set(module.params["restart_for"]))
    if before and not module.check_mode:
        # First the journal: what was written without it could not be put back.
        journal.keep(table, record, before, unsettled)
        journal.save()
        # Who is to be restarted is not waited for: initialising DPDK takes a minute on a slow machine.
        database.write(table, record, {name: wanted[name] for name in before}, wait=not unsettled)
    changes = {name: {"before": value, "after": wanted[name]} for name, value in before.items()}
    restart = bool(journal.kept["unsettled"] or unsettled)
    module.exit_json(changed=bool(before), changes=changes, restart=restart)


def settled(module, journal):
    """Note that the daemon has read everything."""
    changed = bool(journal.kept["unsettled"])
    if changed and not module.check_mode:
        journal.kept["unsettled"] = []
        journal.save()
    module.exit_json(changed=changed, changes={}, restart=False)


def restored(module, database, journal):
    """Put back what was there before; a record that is gone needs nothing."""
    changes, restart = {}, bool(journal.kept["unsettled"])
    for table, record, name, value in journal.kept["before"]:
        if database.read(table, record, [name.partition(":")[0]]) is None:
            continue
        now = differing(database, table, record, {name: value})
        if now and not module.check_mode:
            database.write(table, record, {name: value}, wait=name not in module.params["restart_for"])
        changes |= {f"{table} {record} {one}": {"before": now[one], "after": value} for one in now}
        restart = restart or bool(now and name in module.params["restart_for"])
    known = bool(journal.kept["before"])
    if not module.check_mode:
        journal.remove()
    module.exit_json(changed=known, changes=changes, restart=restart)


def main():
    """Do what the state says."""
    module = AnsibleModule(
        {
            "vsctl": {"type": "list", "elements": "str", "required": True},
            "table": {"type": "str"},
            "record": {"type": "str"},
            "values": {"type": "dict", "default": {}},
            "restart_for": {"type": "list", "elements": "str", "default": []},
            "journal": {"type": "path", "required": True},
            "state": {"type": "str", "choices": ["present", "settled", "restored"], "default": "present"},
        },
        required_if=[("state", "present", ("table", "record"))],
        supports_check_mode=True,
    )
    try:
        journal = Journal(module.params["journal"])
        database = Database(module, module.params["vsctl"])
        if module.params["state"] == "settled":
            settled(module, journal)
        elif module.params["state"] == "restored":
            restored(module, database, journal)
        else:
            present(module, database, journal)
    except (Failed, OSError, ValueError) as failure:
        module.fail_json(msg=str(failure))


if __name__ == "__main__":
    main()
