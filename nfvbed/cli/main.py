"""The group of all verbs; the only place where errors become messages and exit codes."""

import errno
import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from types import TracebackType

import click

from nfvbed import __version__
from nfvbed.cli.completion import STORE
from nfvbed.cli.extras import missing_extra
from nfvbed.cli.no_secrets import without_password
from nfvbed.cli.output import drop_unwritten, guard_output
from nfvbed.errors import ConfigurationError, NfvbedError
from nfvbed.wholefile import is_full, not_written

VERBS = {
    "doctor": ("doctor", "Examine a site: what it has, and which variants it can run."),
    "variants": ("variants", "List the variants, or show one."),
    "deploy": ("deploy", "Set a variant up and leave it deployed."),
    "onboard": ("onboard", "Onboard a VNF."),
    "package": ("package", "Write the descriptor of a VNF, or its package, for Tacker."),
    "scale": ("scale", "Change the number of VNFs side by side."),
    "heal": ("heal", "Start VNFs again that died."),
    "steer": ("steer", "Show the path of what is deployed, or let it pass its VNFs in another order."),
    "offboard": ("offboard", "Take VNFs away, and leave their data plane."),
    "plan": ("plan", "Show what an experiment would measure, and how long it takes."),
    "run": ("run", "Run an experiment, or go on with one that stopped."),
    "compare": ("compare", "Compare the variants of a run."),
    "diff": ("diff", "Show what changed from one run or release of a variant to another."),
    "gate": ("gate", "Find out whether a change makes a variant slower."),
    "bisect": ("bisect", "Find the step of an ordered list that made a variant slower."),
    "explain": ("explain", "Explain one row of a run, trial by trial."),
    "report": ("report", "Write a run's page, tables and figures."),
    "trace": ("trace", "Send a few frames and name the hop that loses them."),
    "runs": ("runs", "List the runs in the store."),
    "export": ("export", "Write a run as one JSON document."),
    "import": ("import_run", "Put an exported run into the store."),
    "foreign": ("foreign", "Show results of CSIT, NFVbench and VSPERF."),
    "bundle": ("bundle", "Write a run as one file that others can check."),
    "verify-bundle": ("verify_bundle", "Check a bundle: is it consistent, and whose is it."),
    "recommend": ("recommend", "Say which data plane to take."),
    "trend": ("trend", "Show what settings did from run to run: steps, trends."),
    "dashboard": ("dashboard", "Serve the dashboard."),
    "devcloud": ("devcloud", "Start a real OpenStack on this machine, look at it, remove it."),
    "kolla": ("kolla", "Render what kolla-ansible takes for a variant on several machines."),
    "rack": ("rack", "Start the machines of a rack in a box, look at them, stop them."),
    "verify": ("verify", "Check a running cloud against the variant that is deployed on it."),
    "destroy": ("destroy", "Remove what is deployed, also what a crash left behind."),
}
"""Verb: (module below nfvbed.cli, one line of help). The help is here so that showing it imports nothing."""

INTERRUPTED = 130
_SHOWN = 60
"""Characters of a name that is too long."""


class VerbGroup(click.Group):
    """Loads a verb's module when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs that this nfvbed has, in the order of the pipeline."""
        return [verb for verb, (module, _) in VERBS.items() if importlib.util.find_spec(f"nfvbed.cli.{module}")]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one verb; where a shell completes, take what is written down of it."""
        if cmd_name not in self.list_commands(ctx):
            return None
        if ctx.resilient_parsing:
            from nfvbed.cli.outline import outlined

            return outlined(cmd_name, VERBS[cmd_name][1])
        command: click.Command = importlib.import_module(f"nfvbed.cli.{VERBS[cmd_name][0]}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb of a line; one that there is not is answered with those that look like it."""
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:
            # click looks among commands that are imported already.
            raise click.exceptions.NoSuchCommand(
                error.command_name, possibilities=self.list_commands(ctx), ctx=ctx
            ) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs with their lines without importing them."""
        with formatter.section("Verbs"):
            formatter.write_dl([(verb, VERBS[verb][1]) for verb in self.list_commands(ctx)])


@click.command(cls=VerbGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="nfvbed")
@click.option(
    "--root",
    type=click.Path(),
    metavar="DIR",
    help="Folder of nfvbed's data. Default: $NFVBED_ROOT, or the checkout.",
)
@click.option(
    "--store",
    type=STORE,
    metavar="FILE|URL",
    callback=without_password,
    help="Results. Default: $NFVBED_STORE, or results/nfvbed.sqlite there.",
)
@click.option("--debug", is_flag=True, help="Show the traceback of an internal error.")
def group(root: str | None, store: str | None, debug: bool) -> None:
    """Answer with measurements which data plane an NFV infrastructure should run."""
    # The environment carries them to the verbs and to the processes they start.
    if root:
        os.environ["NFVBED_ROOT"] = root
    if store:
        os.environ["NFVBED_STORE"] = store
    if not debug:
        sys.excepthook = report_internal_error


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    guard_output()
    try:
        code = group.main(arguments, prog_name="nfvbed", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except ModuleNotFoundError as error:
        if (missing := missing_extra(error)) is None:
            raise
        return _reported(missing)
    except NfvbedError as error:
        return _reported(error)
    except OSError as error:
        known = _known(error)
        if known is None:
            raise
        return _reported(known)
    return code if isinstance(code, int) else 0


def _known(error: OSError) -> NfvbedError | None:
    """Return the error for what the system refuses wherever a file is written or looked for; None: it is nfvbed's."""
    if is_full(error):
        drop_unwritten()
        return not_written("a file", error, "make room there, then the same command")
    if error.errno == errno.ENAMETOOLONG:
        what = "what is named is too long for a file's name"
        return ConfigurationError(what, observed=str(error.filename)[:_SHOWN], fix="name a file, or what there is")
    return None


def _reported(error: NfvbedError) -> int:
    click.echo(f"nfvbed: {error}", err=True)
    return error.exit_code


def report_internal_error(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Say in two lines that nfvbed itself is at fault; Python then exits with status 1."""
    click.echo(f"nfvbed: internal error: {kind.__name__}: {error}", err=True)
    click.echo("  fix: this is a fault of nfvbed; `nfvbed --debug ...` shows the traceback for a report", err=True)
