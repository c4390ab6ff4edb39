"""Checks of what Kolla takes for granted of a machine's kernel, and of a user's own variables.

Each of these faults would else be a container that ends at once, and a task that waits for it.
"""

from collections.abc import Iterator, Mapping

from nfvbed.sites.kolla.ownglobals import CONFIGURATION, RACKS, KollaVariables
from nfvbed.sites.kolla.preflight.facts import SETTINGS_OF_BRIDGES, MachineFacts
from nfvbed.sites.kolla.preflight.finding import Finding
from nfvbed.spec.site import KollaSiteSpec

DIMENSIONS = "default_container_dimensions_docker"
LIBVIRT = "nova_libvirt_default_dimensions"
CONNECTIONS = "haproxy_max_connections"
OF_HAPROXY = 1000
"""Open files of haproxy beside two for each connection: listeners, checks, threads. With 4,000 connections 20,000 were
enough; haproxy counts itself and refuses to start below."""


def check_variables(site: KollaSiteSpec, known: KollaVariables) -> Iterator[Finding]:
    """Find variables of the user's own that leave a service without what it asks."""
    if known.is_off("enable_proxysql") and not _has_database(known):
        first, *others = site.hosts_with("controller").values()
        yield _finding(
            site,
            "",
            f"nothing would answer at {site.virtual_address}:3306: without ProxySQL MariaDB has no frontend there",
            "database_address",
            "globals.d has enable_proxysql: false, and neither database_address nor"
            " enable_external_mariadb_load_balancer",
            "enable_external_mariadb_load_balancer: true" if others else f"database_address: {first.address}",
        )
    for text in known.not_read:
        yield _finding(
            site, "", "a file of globals.d is not looked into", "", text, "nothing, if Ansible reads it"
        ).model_copy(update={"stops": False})


def check_kernel(site: KollaSiteSpec, facts: Mapping[str, MachineFacts], known: KollaVariables) -> Iterator[Finding]:
    """Find bounds below what Kolla's containers are given, and files of the kernel's that its roles need."""
    for name, found in facts.items():
        if "generator" not in site.hosts[name].roles:
            yield from _check_files(site, name, found, known)
            yield from _check_locked(site, name, found, known)
            yield from _check_lacking(site, name, found, known)


def _check_files(site: KollaSiteSpec, name: str, facts: MachineFacts, known: KollaVariables) -> Iterator[Finding]:
    bound = facts.open_files
    if bound is None:
        return
    given = known.number("group_vars/all/common.yml", DIMENSIONS, "ulimits", "nofile", "hard")
    seen = f"its first process: at most {bound} open files, and no CAP_SYS_RESOURCE to raise that"
    if given is not None and given > bound:
        limits = f"{{soft: {bound}, hard: {bound}}}"
        yield _finding(
            site,
            name,
            f"containers of {name} could not start: Kolla gives them {given} open files",
            DIMENSIONS,
            seen,
            f"{DIMENSIONS}: {{ulimits: {{nofile: {limits}}}}}",
        )
    connections = known.number("roles/loadbalancer/defaults/main.yml", CONNECTIONS)
    least = min(bound, given or bound)
    if site.hosts[name].is_controller and connections is not None and 2 * connections + OF_HAPROXY > least:
        yield _finding(
            site,
            name,
            f"haproxy of {name} could not start: {connections} connections take {2 * connections + OF_HAPROXY} open"
            " files",
            CONNECTIONS,
            seen,
            f"{CONNECTIONS}: {max((least - OF_HAPROXY) // 2, 100)}",
        )


def _check_locked(site: KollaSiteSpec, name: str, facts: MachineFacts, known: KollaVariables) -> Iterator[Finding]:
    given = known.number("roles/nova-cell/defaults/main.yml", LIBVIRT, "ulimits", "memlock", "hard")
    bound = facts.locked_bytes
    if site.hosts[name].is_compute and bound is not None and given is not None and given > bound:
        yield _finding(
            site,
            name,
            f"the container of libvirt could not start on {name}: Kolla lets it lock {given} bytes",
            LIBVIRT,
            f"its first process: at most {bound} bytes of locked memory, and no CAP_SYS_RESOURCE to raise that",
            f"{LIBVIRT}: {{}}",
        )


def _check_lacking(site: KollaSiteSpec, name: str, facts: MachineFacts, known: KollaVariables) -> Iterator[Finding]:
    lists = [file for file in facts.lacks if not file.startswith("proc/sys/")]
    if lists:
        yield _finding(
            site,
            name,
            f"Kolla's role module-load would fail on {name}: its module of Ansible opens /{lists[0]}",
            "",
            f"there is no /{', /'.join(lists)}",
            "a kernel with loadable modules and their lists; Kolla has no variable for it",
        )
    of_bridges = {f"proc/sys/{one}" for one in SETTINGS_OF_BRIDGES}
    host = site.hosts[name]
    settings = [
        file
        for file in facts.lacks
        if file.startswith("proc/sys/") and (host.is_compute if file in of_bridges else host.is_controller)
    ]
    if settings and not known.is_off("set_sysctl"):
        yield _finding(
            site,
            name,
            f"Kolla could not set what the kernel of {name} does not have",
            "set_sysctl",
            f"there is no /{', /'.join(settings)}",
            "set_sysctl: false, and set what is there by other means; or load br_netfilter's module, if it lacks"
            if of_bridges & set(settings)
            else "set_sysctl: false, and set what is there by other means",
        )


def _has_database(known: KollaVariables) -> bool:
    external = known.own.get("enable_external_mariadb_load_balancer", False)
    return "database_address" in known.own or str(external).lower() in ("true", "yes", "1", "on")


def _finding(site: KollaSiteSpec, machine: str, what: str, key: str, observed: str, fix: str) -> Finding:
    folder = RACKS / site.name / CONFIGURATION / "globals.d"
    fix = f"write into a file of {folder}: {fix}" if key else fix
    return Finding(machine=machine, what=what, key=f"{folder} {key}".strip(), observed=observed, fix=fix)
