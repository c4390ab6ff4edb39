"""A Tacker of recorded answers."""

import json
from pathlib import Path

import yaml
from tackerclient.common import exceptions
from tackerclient.v1_0.client import exception_handler_v10

RECORDED = yaml.safe_load((Path(__file__).parent / "recorded" / "served.yml").read_text())
"""Answers of Tacker's routers to paths that they do not have, by API."""


def refused(status):
    """Return the error that python-tackerclient raises for a status."""
    return exceptions.TackerClientException(status_code=status, message=f"refused with {status}")


class FakeTacker:
    """What python-tackerclient answers; requests that change something are kept."""

    def __init__(self, lacks=()):
        self.lacks = lacks
        self.probed = []
        self.vnfs, self.vnfds, self.instances, self.packages = {}, {}, {}, {}
        self.operations = []
        self.asked = []
        self.states = iter(())

    def _answer(self, api):
        """Answer as Tacker does where it does not have an API."""
        self.probed.append(api)
        if api in self.lacks:
            known = RECORDED["sol" if api == "sol-v2" else api]  # the router of all paths that no application has
            exception_handler_v10(known["status"], json.loads(known["body"]))

    def list_vnfs(self):
        """Return VNFs of both APIs, as Tacker does."""
        self._answer("legacy")
        return {"vnfs": list(self.vnfs.values())}

    def list_vnfds(self):
        """Return VNFDs, their descriptions cut off as the client does."""
        self._answer("legacy")
        return {"vnfds": [{**one, "description": one["description"][:25] + "..."} for one in self.vnfds.values()]}

    def show_vnfd(self, identifier):
        """Return a VNFD."""
        return {"vnfd": self.vnfds[identifier]}

    def list_vnf_instances(self):
        """Return VNF instances."""
        self._answer("sol")
        return list(self.instances.values())

    def show_vnf_lcm_versions(self, version):
        """Return the versions of the API of VNF instances."""
        self._answer("sol-v2")
        return {"uriPrefix": f"/vnflcm/{version}"}

    def list_vnf_packages(self):
        """Return packages."""
        self._answer("sol")
        return {"vnf_packages": [{"id": one} for one in (*self.packages, "gone meanwhile")]}

    def show_vnf_package(self, identifier):
        """Return a package; its state is the next recorded one."""
        if identifier not in self.packages:
            raise refused(404)
        found = self.packages[identifier]
        found["onboardingState"] = next(self.states, found.get("onboardingState"))
        return dict(found)

    def create_vnf_package(self, body):
        """Make a package."""
        self.packages["made"] = {"id": "made", **body}
        return {"id": "made"}

    def upload_vnf_package(self, identifier, content):
        """Take a package's content."""
        self.asked.append(("upload", identifier))

    def list_vnf_lcm_op_occs(self, filter):
        """Return operations."""
        return [{key: one[key] for key in one if key != "error"} for one in self.operations]

    def show_vnf_lcm_op_occs(self, identifier):
        """Return an operation with its error; times are in another form than where they are listed, as with Tacker."""
        found = next(dict(one) for one in self.operations if one["id"] == identifier)
        times = {key: f"{found[key]}+00:00" for key in ("startTime", "stateEnteredTime") if key in found}
        return found | times

    def cancel_vnf_instance(self, identifier, body):
        """Cancel an operation, as Tacker does when a minute has passed."""
        self.asked.append(("cancel", identifier))
        if len(self.asked) < 3:
            raise refused(409)
        self.operations[-1]["operationState"] = "FAILED_TEMP"

    def fail_vnf_instance(self, identifier):
        """Fail an operation."""
        self.asked.append(("fail", identifier))
        self.operations[-1]["operationState"] = "FAILED"


class FailingTacker(FakeTacker):
    """A Tacker one of whose operations failed for the time being; it answers as a release's source has it."""

    def __init__(self, operation, cells):
        super().__init__()
        kind, _, way = operation.partition("_") if operation.startswith("SCALE") else (operation, "", "")
        self._cells = cells
        self._clock = 0
        self.operations = [{"id": "o1", "startTime": "0", "operation": kind, "type": way, "operationState": ""}]
        self._enter("FAILED_TEMP")

    def _enter(self, state, **more):
        self._clock += 1
        self.operations[-1] |= {"operationState": state, "stateEnteredTime": str(self._clock), **more}

    def _ends(self, action):
        cell = self._cells[action]
        if cell.get("status") == 409:
            body = {"title": cell["refused"], "detail": cell["refused"], "status": 409}
            exception_handler_v10(409, json.dumps(body))
        elif "refused" in cell:
            self._enter("FAILED_TEMP", error={"status": cell["status"], "detail": cell["refused"]})
        else:
            self._enter(cell["state"])

    def retry_vnf_instance(self, identifier):
        """Do an operation again."""
        self.asked.append(("retry", identifier))
        self._ends("retry")

    def rollback_vnf_instance(self, identifier):
        """Undo an operation."""
        self.asked.append(("rollback", identifier))
        self._ends("rollback")

    def fail_vnf_instance(self, identifier):
        """Fail an operation."""
        self.asked.append(("fail", identifier))
        self._ends("fail")

    def begin(self):
        """Begin a second operation, which ends as the first time."""
        self.operations.append(self.operations[0] | {"id": "o2", "startTime": "1"})
        self._ends("do")
