"""The options by which `nfvbed onboard` completes the descriptor in a file, and the onboarding of it."""

import json
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import click
import yaml

from nfvbed.cli.no_secrets import require_no_secret
from nfvbed.cli.vnf_options import KEYS as VNF_KEYS
from nfvbed.errors import UnknownNameError, UsageError
from nfvbed.sites.site import Site
from nfvbed.spec import boundedyaml
from nfvbed.spec.document import is_misread
from nfvbed.spec.textfile import kind_of, read_text
from nfvbed.spec.validate import suggestion
from nfvbed.spec.variant import Variant
from nfvbed.units import NS_PER_S
from nfvbed.vnfs.descriptors.descriptorfile import DescriptorFile, DescriptorVnf
from nfvbed.vnfs.descriptors.onboardable import OnboardableVnf
from nfvbed.vnfs.descriptors.signature import TrustedCertificates, read_trust

Command = TypeVar("Command", bound=Callable[..., Any])

KEYS = ("networks", "parameters", "names", "flavour", "level", "called", "trusted")
_NOT_IN_A_NAME = re.compile(r"[^a-z0-9.-]+")
_MOST_LETTERS = 40
_FILE_SIGN = "@"
"""Begins a value that is in a file; no value of YAML begins with it."""


trusted_option = click.option(
    "--trusted",
    multiple=True,
    metavar="FILE",
    help="Package: it must be signed by this certificate (PEM), or by one that it certified; several times.",
)


def given_options(command: Command) -> Command:
    """Add the options of a descriptor; `descriptor_of` turns their values into one."""
    for option in (
        trusted_option,
        click.option("--called", metavar="NAME", help="FILE: how the VNF is called. Default: as the file."),
        click.option("--level", metavar="NAME", help="Package: instantiation level. Default: its own."),
        click.option(
            "--deployment-flavour",
            "flavour",
            metavar="NAME",
            help="Package: deployment flavour. Default: its only one.",
        ),
        click.option(
            "--name",
            "names",
            multiple=True,
            metavar="OLD=NEW",
            help="Template: what a network, flavor or image is called here.",
        ),
        click.option(
            "--param",
            "parameters",
            multiple=True,
            metavar="NAME=VALUE",
            help="Input of a template; additionalParams of a package. NAME=@FILE: the text of a file, for secrets.",
        ),
        click.option(
            "--network",
            "networks",
            multiple=True,
            metavar="CP=NAME",
            help="Package: the network of a connection point.",
        ),
    ):
        command = option(command)
    return command


def is_file(vnf: str, known: tuple[str, ...]) -> bool:
    """Return whether a file is meant, and no VNF of the project.

    Raises:
        UnknownNameError: there is neither, and the name is written as a file's.
    """
    if vnf in known or Path(vnf).is_file():
        return vnf not in known
    if "/" not in vnf and "." not in vnf:
        return False
    raise UnknownNameError(
        f"there is no file or VNF {vnf}",
        where=str(Path(vnf).absolute().parent),
        observed=kind_of(Path(vnf)) or "no such file",
        fix=f"give the path of a descriptor, or a VNF of vnfd: {suggestion(vnf, known)}",
    )


def refuse_given(options: dict[str, Any]) -> None:
    """Refuse a descriptor's options where no file is meant, and take them out.

    Raises:
        UsageError: one of them is given.
    """
    given = [key for key in KEYS if options.pop(key)]
    if given:
        raise UsageError(f"{', '.join(given)} are of a descriptor in a file", fix="give the file's path as VNF")


def refuse_others(options: dict[str, Any]) -> None:
    """Refuse the options of a VNF of the project where a file is meant.

    Raises:
        UsageError: one of them is given.
    """
    given = [key for key in (*VNF_KEYS, "topology", "offload_price") if options.get(key) not in (None, False)]
    if given:
        options_given = ", ".join(f"--{key.replace('_', '-')}" for key in given)
        raise UsageError(f"{options_given}: not of a descriptor in a file", fix="the descriptor says what its VNF is")


def descriptor_of(path: str, options: dict[str, Any]) -> DescriptorFile:
    """Return the descriptor that a command names, with what its options give for it.

    Raises:
        UsageError: an option is not NAME=VALUE, or a value is not readable.
    """
    name = options["called"] or _NOT_IN_A_NAME.sub("-", Path(path).stem.lower()).strip("-.")[:_MOST_LETTERS]
    return DescriptorFile(
        path=Path(path),
        name=name,
        networks=pairs("--network", options["networks"]),
        parameters=parameters_of(options["parameters"]),
        names=pairs("--name", options["names"]),
        flavour=options["flavour"] or "",
        level=options["level"] or "",
        trust=trust_of(options["trusted"]),
    )


def trust_of(files: tuple[str, ...]) -> TrustedCertificates:
    """Return the certificates that `--trusted` names.

    Raises:
        ConfigurationError: one is none, or cannot be read.
    """
    return read_trust([Path(file) for file in files])


def parameters_of(texts: tuple[str, ...]) -> dict[str, Any]:
    """Return the inputs that `--param` gives, by name.

    Raises:
        UsageError: an option is not NAME=VALUE, or a value is not readable.
    """
    return {key: _value(key, text) for key, text in pairs("--param", texts).items()}


def onboard_descriptor(site: Site, variant: Variant, found: OnboardableVnf, as_json: bool) -> None:
    """Onboard it and print what there is then."""
    try:
        vnf = site.onboard_descriptor(variant, found, lambda line: click.echo(line, err=True))
    finally:
        site.close()
    if as_json:
        click.echo(json.dumps(asdict(vnf), indent=2))
    else:
        _print(vnf)


def _print(vnf: DescriptorVnf) -> None:
    was = [name for name, _ in vnf.steps] == ["found"]
    click.echo(f"{vnf.name} ({vnf.api}) {'was onboarded already' if was else 'is onboarded'}")
    for one in vnf.instances:
        click.echo(f"  {one.name}: ACTIVE on {one.host}; {', '.join(f'{net} {mac}' for net, mac in one.ports)}")
        click.echo(f"    console: {one.printed or 'it has printed nothing: whether it has booted is not known'}")
    if not was:
        click.echo(f"  took: {', '.join(f'{name} {ns / NS_PER_S:.1f} s' for name, ns in vnf.steps)}")
    for line in vnf.said:
        click.echo(f"  said: {line}")
    if not vnf.said:
        click.echo("  Whether it forwards is not known: nfvbed does not know what this VNF does with frames.")
    click.echo(f"  next: nfvbed offboard {vnf.name}")


def pairs(option: str, texts: tuple[str, ...], example: str = "NAME=VALUE") -> dict[str, str]:
    """Return the pairs that an option gives, which may be repeated as NAME=VALUE.

    Raises:
        UsageError: a text is not of this form.
    """
    found = {}
    for text in texts:
        key, sign, value = text.partition("=")
        if not (key and sign and value):
            raise UsageError(f"{option} is a name and a value", observed=repr(text), fix=f"{option} {example}")
        found[key] = value
    return found


def _value(key: str, text: str) -> Any:
    if text.startswith(_FILE_SIGN):
        file = Path(text.removeprefix(_FILE_SIGN))
        return read_text(file, f"name a file with the value of {key}").rstrip("\n")
    require_no_secret("--param", (key,), f"write it into a file that only you can read, and give {key}=@FILE")
    if is_misread(text.strip()):
        raise UsageError(
            f"YAML reads the value of {key} to another base",
            observed=text,
            fix=f"write it in quotes within the shell's, {key}='\"{text.strip()}\"'",
        )
    try:
        return boundedyaml.load(text)
    except yaml.YAMLError as failure:
        raise UsageError(
            f"the value of {key} is not readable", observed=repr(text), fix="write it as YAML"
        ) from failure
