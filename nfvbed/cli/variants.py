"""`nfvbed variants`: the data planes there are."""

from collections import Counter
from pathlib import Path

import click
import yaml
from rich.table import Table
from rich.text import Text

from nfvbed.cli.completion import VARIANT
from nfvbed.cli.console import Console
from nfvbed.cli.listing import Output, Row, listing_options
from nfvbed.cli.settings import root_option
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.spec.variant import Variant


@click.command(name="variants")
@click.argument("name", type=VARIANT, required=False)
@root_option
@listing_options("variant", "data_plane", "port_kind", "topologies", "summary")
def command(name: str | None, root: Path | None, output: Output) -> None:
    """List all variants, or show the one called NAME with its defaults filled in.

    Whether this host can run them says `nfvbed doctor`.
    """
    project = open_project(root)
    if name:
        variant = project.load_variant(name)
        values = variant.model_dump(mode="json")
        text = yaml.safe_dump(values, sort_keys=False, allow_unicode=True).rstrip()
        output.show(lambda: [_row(variant)], lambda: values, lambda: click.echo(text))
    else:
        found = project.list_variants()
        output.show(
            lambda: map(_row, found),
            lambda: [variant.model_dump(mode="json") for variant in found],
            lambda: _print(found),
        )


def _row(variant: Variant) -> Row:
    return {
        "variant": variant.name,
        "data_plane": variant.options.dataplane,
        "port_kind": variant.port_kind.value,
        "topologies": variant.topologies,
        "summary": variant.summary,
    }


def _print(variants: list[Variant]) -> None:
    console = Console(highlight=False)
    planes = Counter(variant.options.dataplane for variant in variants)
    ports = Counter(variant.port_kind.value for variant in variants)
    console.print(f"{len(variants)} variants of {len(planes)} data planes: {_counted(planes)}")
    console.print(f"their ports: {_counted(ports)}")
    console.print("which of them run here: nfvbed doctor; all of one: nfvbed variants NAME")
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True, style="bold")
    table.add_column()
    for variant in variants:
        table.add_row(Text(variant.name), Text(variant.summary))
    console.print()
    console.print(table)


def _counted(found: Counter[str]) -> str:
    """Return names, those of which there are several with their number, most first."""
    return ", ".join(f"{name} ({number})" if number > 1 else name for name, number in found.most_common())
