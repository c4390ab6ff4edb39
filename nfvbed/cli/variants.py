"""`nfvbed variants`: the data planes there are."""

import json
from pathlib import Path

import click
import yaml
from rich.table import Table

from nfvbed.cli.completion import VARIANT
from nfvbed.cli.console import Console
from nfvbed.cli.settings import json_option, root_option
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.spec.variant import Variant


@click.command(name="variants")
@click.argument("name", type=VARIANT, required=False)
@root_option
@json_option
def command(name: str | None, root: Path | None, as_json: bool) -> None:
    """List all variants, or show the one called NAME with its defaults filled in.

    Whether this host can run them says `nfvbed doctor`.
    """
    project = open_project(root)
    if name:
        _show(project.load_variant(name), as_json)
    else:
        _list(project.list_variants(), as_json)


def _show(variant: Variant, as_json: bool) -> None:
    values = variant.model_dump(mode="json")
    text = json.dumps(values, indent=2) if as_json else yaml.safe_dump(values, sort_keys=False, allow_unicode=True)
    click.echo(text.rstrip())


def _list(variants: list[Variant], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps([variant.model_dump(mode="json") for variant in variants], indent=2))
        return
    table = Table("variant", "data plane", "port kind", "topologies", "summary")
    for variant in variants:
        options = variant.options.dataplane
        table.add_row(variant.name, options, variant.port_kind.value, ", ".join(variant.topologies), variant.summary)
    Console().print(table)
