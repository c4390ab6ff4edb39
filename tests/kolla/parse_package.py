"""Parses a VNF package as Tacker 15 does, with the tosca-parser of the environment: run by itself.

The whole package as `tacker.common.csar_utils.load_csar_data`, and the definitions of each deployment flavour as
`tacker.vnflcm.utils._get_vnfd_dict`, which takes the requirements out of what the flavour is substituted by.
"""

import json
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import yaml
from toscaparser.tosca_template import ToscaTemplate


def main(package: Path, folder: Path) -> None:
    """Print the parser's version and the names of the node templates of each flavour."""
    found = {}
    ToscaTemplate(str(package), None, True)
    with zipfile.ZipFile(package) as archive:
        archive.extractall(folder)
    for path in sorted((folder / "Definitions").glob("*_flavour*.yaml")):
        vnfd = yaml.safe_load(path.read_text())
        vnfd["imports"] = [str(path.parent / one) for one in vnfd["imports"]]
        vnfd["topology_template"]["substitution_mappings"].pop("requirements")
        parsed = ToscaTemplate(parsed_params={}, a_file=False, yaml_dict_tpl=vnfd)
        found[path.stem] = sorted(one.name for one in parsed.nodetemplates)
    sys.stdout.write("\n" + json.dumps({"version": version("tosca-parser"), "flavours": found}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
