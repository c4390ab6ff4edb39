"""Runs one test with the user's VSPERF, from its settings to the stored run."""

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from uuid6 import uuid7

from nfvbed.dataplanes.ovs.binaries import locate
from nfvbed.errors import (
    DeployError,
    InterruptedRunError,
    NfvbedError,
    TotalLossError,
)
from nfvbed.host.cores import coredistance
from nfvbed.host.cores.arrangement import Arrangement, resolve
from nfvbed.host.cores.topology import read_topology
from nfvbed.host.generator import GeneratorStarter
from nfvbed.host.ledger.processes import ManagedProcess
from nfvbed.host.native import native_binary
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Accelerator, Deployment, FactRecord, PortKind, RunRecord, Status
from nfvbed.sites.lab.machine import LabMachine
from nfvbed.spec.below import below
from nfvbed.store import Store
from nfvbed.store.clock import utc_now
from nfvbed.vsperf.conf import VsperfResult, VsperfSettings, read_results
from nfvbed.vsperf.driver import forwarder, ports
from nfvbed.vsperf.driver.configuration import Additions, write_configuration
from nfvbed.vsperf.driver.guests import Guests, find_guests, guest_additions, vnf_ports
from nfvbed.vsperf.driver.importing import ENGINE, Measured, import_results
from nfvbed.vsperf.driver.measuring import BROKEN_PATH, PluginMeasurer
from nfvbed.vsperf.driver.request import PLUGIN, Request, generator_additions, joined
from nfvbed.vsperf.driver.service import PluginService

SOCKET_VARIABLE: Final = "NFVBED_VSPERF_SOCKET"
PROCESS: Final = "vsperf"
SITE: Final = "vsperf"
"""Site that is stored with the run: VSPERF set the switch up, no site of nfvbed."""
SWITCH_MIB: Final = 384
"""Hugepage memory of the switch: DPDK's own, and a pool for each of two ports."""
LOG_LINES: Final = 25
FAILED: Final = "Failed to run test"
"""VSPERF's words, before the name of the test and a traceback."""


def run_vsperf(request: Request, store: Store, tell: Callable[[str], None]) -> RunRecord:
    """Run the test and store VSPERF's results.

    Args:
        request: checked by `check_request`.
        store: open for writing.
        tell: is called with lines on the progress.

    Raises:
        BusyError: another nfvbed is at work.
        DeployError: VSPERF gave no result; with the last lines of its log.
        InterruptedRunError: the user interrupted.
    """
    machine = LabMachine(request.site, request.root)
    machine.begin()
    try:
        run = _begin(request, store, machine)
        with _ended(store, run):
            workspace = Workspace.create()
            try:
                _Execution(request, store, run, workspace).execute(tell)
            finally:
                problems = workspace.close()
            if problems:
                raise DeployError("VSPERF's run is not completely gone", observed="; ".join(problems))
        return store.run(run.id)
    finally:
        machine.close()


def _begin(request: Request, store: Store, machine: LabMachine) -> RunRecord:
    title = f"VSPERF itself, {request.case.name}: {request.case.description or 'no description'}"
    plan = {
        "driver": ENGINE,
        "experiment": {"name": request.name, "title": title},
        "test": request.case.name,
        "trafficgen": request.trafficgen,
        "version": request.installation.version,
    }
    run = RunRecord(
        id=str(uuid7()),
        experiment=request.name,
        site=SITE,
        host_hash=store.put_blob("host", machine.facts()),
        plan_hash=store.put_blob("plan", plan),
        started_at=utc_now(),
    )
    store.start_run(run)
    return run


@contextlib.contextmanager
def _ended(store: Store, run: RunRecord) -> Iterator[None]:
    """Write the outcome of the run at its end."""
    try:
        yield
    except KeyboardInterrupt:
        store.finish_run(run.id, Status.INTERRUPTED, "interrupted by the user")
        raise InterruptedRunError(
            "VSPERF was interrupted", observed="nothing of it is kept, nothing runs any more", fix="run it again"
        ) from None
    except NfvbedError as error:
        store.finish_run(run.id, Status.FAILED, str(error))
        raise
    except BaseException as error:
        store.finish_run(run.id, Status.FAILED, f"internal error: {error!r}")
        raise
    store.finish_run(run.id, Status.OK)


def _guests(request: Request) -> Guests | None:
    """Return the guests that VSPERF is given; None: it starts none, or its NICs and guests are its own."""
    if request.has_nics or not request.guests:
        return None
    return find_guests(request.case.name, request.own, request.guests, request.vnf, request.root)


class _Execution:
    """One run of VSPERF in its workspace."""

    def __init__(self, request: Request, store: Store, run: RunRecord, workspace: Workspace) -> None:
        self._request = request
        self._store = store
        self._run = run
        self._workspace = workspace
        self._results = workspace.directory / "results"
        self._guests = _guests(request)
        topology, site = read_topology(), request.site.arrangement
        self._arrangement: Arrangement = resolve(topology, site, vnfs=self._guests.count if self._guests else 0)
        self._generator_ports = ports.generator_ports(workspace.directory)

    def execute(self, tell: Callable[[str], None]) -> None:
        """Run VSPERF, answer its plug-in meanwhile, and import its results."""
        text = self._configure()
        socket_path = self._workspace.directory / "plugin.sock"
        starter = GeneratorStarter(
            self._workspace, self._arrangement, self._request.site.generator_hugepages_mib // 2, self._request.root
        )
        deployment = self._deployment()
        cores = (self._arrangement.switch_cores[0], self._arrangement.generator_core)
        measurer = PluginMeasurer(
            lambda: starter.start(deployment), lambda: coredistance.measure(cores, self._request.root).one_way_ns
        )
        service = PluginService(socket_path, measurer.handle)
        try:
            process = self._start(socket_path)
            tell(f"VSPERF {self._request.installation.version} runs {self._request.case.name}")
            service.serve(process.alive)
        finally:
            service.close()
            measurer.close()
            _tidy(self._request.settings, self._results)
        self._import(text, process, service.failure, measurer)
        failed = complaint(process.log.read_text(errors="replace"))
        if failed:
            tell(f"VSPERF wrote its result, and then failed: {failed}")

    def _configure(self) -> str:
        """Write the settings file and the files that it names; return its text."""
        request, directory = self._request, self._workspace.directory
        self._results.mkdir()
        additions = generator_additions(request.trafficgen)
        if not request.has_nics:
            additions = joined(additions, self._virtual())
        additions = joined(additions, Additions(forced=dict.fromkeys(("RESULTS_PATH", "LOG_DIR"), str(self._results))))
        stock = request.installation.configuration
        text = write_configuration(request.settings, stock, request.case, additions)
        (directory / "vsperf.conf").write_text(text, encoding="utf-8")
        return text

    def _virtual(self) -> Additions:
        """Return the settings of a switch, or forwarder, on virtual ports, and of guests on it."""
        request, directory = self._request, self._workspace.directory
        guests = self._guests
        hugepages = self._workspace.hugepages(SWITCH_MIB + (guests.memory_mib if guests else 0))
        if request.switch == forwarder.FORWARDER:
            given = request.own.get("TESTPMD_ARGS")
            words = tuple(given.value) if given is not None else ()
            return forwarder.forwarder_ports(request.case, directory, hugepages, self._arrangement, words)
        found = ports.virtual_ports(request.case, directory, hugepages, self._arrangement, locate())
        return joined(found, guest_additions(guests, directory, hugepages, self._arrangement)) if guests else found

    def _start(self, socket_path: Path) -> ManagedProcess:
        request, directory = self._request, self._workspace.directory
        arguments = ("--conf-file", str(directory / "vsperf.conf"), "--verbosity", "info", request.case.name)
        # Mounts that VSPERF makes and takes away (hugepages) are its own.
        argv = [str(native_binary("nfvbed-exec", request.root)), "--new-mount-ns", "--"]
        variables = {
            SOCKET_VARIABLE: str(socket_path),
            "PATH": f"{PLUGIN / 'bin'}:{os.environ.get('PATH', os.defpath)}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": "",
            "LC_ALL": "C.UTF-8",
        }
        netns = None
        if not request.has_nics:
            variables |= ports.environment(directory)
            variables["PATH"] += f":{PLUGIN / 'absent'}"
            netns = self._workspace.network_namespace(PROCESS)
        arrangement = self._arrangement
        cores = sorted({*arrangement.control_cores, *arrangement.switch_cores, *arrangement.vnf_cores})
        return self._workspace.spawn(
            PROCESS, [*argv, *request.installation.argv(*arguments)], cores=cores, netns=netns, environment=variables
        )

    def _deployment(self) -> Deployment:
        """Return VSPERF's switch as a deployment, as far as nfvgen needs it."""
        return Deployment(
            id=self._workspace.id,
            variant=f"{ENGINE}:{self._request.switch}",
            site=SITE,
            topology=self._request.topology,
            ports=self._generator_ports,
            vnf_ports=vnf_ports(self._guests, self._workspace.directory) if self._guests else (),
            run_directory=str(self._workspace.directory),
        )

    def _import(
        self, text: str, process: ManagedProcess, failure: NfvbedError | None, measurer: PluginMeasurer
    ) -> None:
        files = sorted(self._results.glob("result_*.csv"))
        kept = self._keep(process)
        if not files:
            if failure is not None:
                raise failure
            raise DeployError(
                "VSPERF gave no result",
                where=f"test {self._request.case.name}, exit status {process.exit_status}",
                observed=f"the last lines of its log:\n{process.log_tail(LOG_LINES)}",
                fix=f"see its files in {kept}, and docs/howto/vsperf.md",
            )
        lines = [line for file in files for line in read_results(file)]
        config = self._store.put_blob("vsperf", {"configuration": text, "version": self._request.installation.version})
        measured = self._measured(config, self._store.put_blob("rig", self._rig()))
        failed = import_results(self._store, measured, lines, measurer.answered)
        self._store.add_fact(self._fact(files, lines, measurer))
        if failed:
            raise TotalLossError(
                "VSPERF measured a path that returns nothing",
                where=", ".join(failed),
                observed="; ".join(dict.fromkeys(failed.values())),
                fix=f"{BROKEN_PATH}; its files are in {kept}",
            )

    def _keep(self, process: ManagedProcess) -> Path:
        """Copy VSPERF's own files, whatever the outcome, to where they outlive the run; return the folder."""
        target = below(self._request.root / "results" / PROCESS, self._run.id)
        shutil.copytree(self._results, target)
        for file in (process.log, self._workspace.directory / "vsperf.conf"):
            shutil.copy2(file, target)
        return target

    def _measured(self, config: str, rig: str) -> Measured:
        traffic = self._request.own.require("TRAFFIC")
        return Measured(
            run=self._run,
            test=self._request.case.name,
            version=self._request.installation.version,
            trafficgen=self._request.trafficgen,
            topology=self._request.topology,
            switch=self._request.switch,
            emulated=bool(self._guests and self._guests.accelerator is Accelerator.TCG),
            port_kind=PortKind.PCI if self._request.has_nics else PortKind.VHOST_USER,
            bidirectional=str(traffic.at("bidir").value).lower() == "true",
            duration_s=float(self._request.own.require("TRAFFICGEN_DURATION").value),
            hashes=(config, rig),
        )

    def _rig(self) -> dict[str, Any]:
        generator = {"engine": ENGINE, "version": self._request.installation.version}
        return {
            "site": SITE,
            "port_kind": (PortKind.PCI if self._request.has_nics else PortKind.VHOST_USER).value,
            "arrangement": self._arrangement.model_dump(mode="json"),
            "generator": {**generator, "trafficgen": self._request.trafficgen},
            **(self._guests.rig if self._guests else {"vnf": None, "flavor": None, "accelerator": None}),
        }

    def _fact(self, files: Sequence[Path], lines: Sequence[VsperfResult], measurer: PluginMeasurer) -> FactRecord:
        """Return VSPERF's output, and nfvgen's measurements for it, unchanged."""
        seconds = sum(
            (line.ended_at - line.started_at).total_seconds() for line in lines[:1] if line.started_at and line.ended_at
        )
        answered = [
            {
                "command": answer.command,
                "frame_size": answer.frame_size,
                "columns": dict(answer.columns),
                "search": answer.search.model_dump(mode="json") if answer.search else None,
            }
            for answer in measurer.answered
        ]
        detail = {"files": {file.name: file.read_text(errors="replace") for file in files}, "nfvgen": answered}
        return FactRecord(
            run=self._run.id, cell=None, round=None, step=ENGINE, duration_ns=int(seconds * 1e9), detail=detail
        )


def complaint(log: str) -> str:
    """Return why VSPERF's log says that the test failed, which it can do after the result is written; else empty."""
    _, failed, after = log.partition(FAILED)
    said = [line for line in after.split("\n[", 1)[0].splitlines() if line.strip()]
    return said[-1].strip(": ") if failed and said else ""


def _tidy(settings: VsperfSettings, results: Path) -> None:
    """Remove the empty folder that VSPERF makes in its LOG_DIR before it reads where its results go."""
    logs, folder = sorted(results.glob("vsperf-overall_*.log")), settings.values.get("LOG_DIR")
    if logs and isinstance(folder, str):
        stamp = logs[0].stem.removeprefix("vsperf-overall_")
        with contextlib.suppress(OSError):
            (Path(folder) / f"results_{stamp}").rmdir()
