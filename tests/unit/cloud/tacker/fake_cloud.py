"""An OpenStack of recorded answers: the parts of openstacksdk's connection that onboarding reads."""

from types import SimpleNamespace

from openstack import exceptions as sdk


class FakeOrchestration:
    """Heat: stacks by name or id, resources by stack."""

    def __init__(self, stacks=(), resources=None):
        self.kept = list(stacks)
        self.listed = resources or {}

    def find_stack(self, name, ignore_missing=True):
        """Return a stack."""
        return next((one for one in self.kept if name in (one.id, one.name)), None)

    def stacks(self):
        """Return all."""
        return list(self.kept)

    def resources(self, stack):
        """Return a stack's resources."""
        if stack not in self.listed:
            raise sdk.NotFoundException("no stack")
        return self.listed[stack]

    def delete_stack(self, stack, ignore_missing=True):
        """Delete one."""
        self.kept = [one for one in self.kept if one.id != stack]


def resource(name, kind, identifier="", status="CREATE_COMPLETE", reason="", nested=False):
    """Return a resource as Heat lists it."""
    return SimpleNamespace(
        name=name,
        resource_type=kind,
        physical_resource_id=identifier,
        status=status,
        status_reason=reason,
        links=[{"rel": "nested", "href": ""}] if nested else [{"rel": "self", "href": ""}],
    )


def stack(identifier, name, status="CREATE_COMPLETE"):
    """Return a stack as Heat lists it."""
    return SimpleNamespace(id=identifier, name=name, status=status)


def server(identifier, status="ACTIVE", fault=None):
    """Return a server as Nova shows it."""
    return SimpleNamespace(
        id=identifier,
        name=f"name of {identifier}",
        status=status,
        fault=fault,
        task_state=None,
        created_at="2026-11-23T00:00:00Z",
        image=None,
        compute_host="controller",
        hypervisor_hostname="controller",
    )


def cloud(orchestration=None, servers=(), ports=(), console="", networks=(), images=()):
    """Return a connection."""
    by_id = {one.id: one for one in servers}
    return SimpleNamespace(
        orchestration=orchestration or FakeOrchestration(),
        current_project_id="ours",
        config=SimpleNamespace(config={"auth": {"auth_url": "http://keystone/v3"}}),
        compute=SimpleNamespace(
            find_server=lambda one, ignore_missing=True: by_id.get(one),
            servers=lambda: list(servers),
            get_server_console_output=lambda one, length: {"output": console},
        ),
        network=SimpleNamespace(
            ports=lambda device_id: [one for one in ports if one.device_id == device_id],
            networks=lambda: list(networks),
        ),
        image=SimpleNamespace(images=lambda name: [one for one in images if one.name == name]),
    )
