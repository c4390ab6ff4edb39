"""A Tacker of recorded answers."""

from tackerclient.common import exceptions


def refused(status):
    """Return the error that python-tackerclient raises for a status."""
    return exceptions.TackerClientException(status_code=status, message=f"refused with {status}")


class FakeTacker:
    """What python-tackerclient answers; requests that change something are kept."""

    def __init__(self):
        self.vnfs, self.vnfds, self.instances, self.packages = {}, {}, {}, {}
        self.operations = []
        self.asked = []
        self.states = iter(())

    def list_vnfs(self):
        """Return VNFs of both APIs, as Tacker does."""
        return {"vnfs": list(self.vnfs.values())}

    def list_vnfds(self):
        """Return VNFDs, their descriptions cut off as the client does."""
        return {"vnfds": [{**one, "description": one["description"][:25] + "..."} for one in self.vnfds.values()]}

    def show_vnfd(self, identifier):
        """Return a VNFD."""
        return {"vnfd": self.vnfds[identifier]}

    def list_vnf_instances(self):
        """Return VNF instances."""
        return list(self.instances.values())

    def list_vnf_packages(self):
        """Return packages."""
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
        """Return an operation with its error."""
        return next(dict(one) for one in self.operations if one["id"] == identifier)

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
