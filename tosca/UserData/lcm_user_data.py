"""Parameters of the base HOT, from descriptor and request: Tacker executes this when it instantiates the VNF.

Their names are those of Tacker's version 2, which fills them in without a script.
"""


class UserData:
    """`lcm-operation-user-data-class`."""

    @staticmethod
    def instantiate(base_hot_dict=None, vnfd_dict=None, inst_req_info=None, grant_info=None):
        """Return the parameters: flavor and image of each VDU, network of each connection point.

        Args:
            base_hot_dict: not read.
            vnfd_dict: descriptor of the flavour.
            inst_req_info: request; its external virtual links name the networks.
            grant_info: images that Tacker has made of the package's, by VDU.
        """
        nodes = vnfd_dict["topology_template"]["node_templates"]
        vdus = {
            name: {
                "computeFlavourId": _flavor(node),
                "vcImageId": _image(name, node, grant_info or {}),
                "desired_capacity": 1,
            }
            for name, node in nodes.items()
            if node["type"] == "tosca.nodes.nfv.Vdu.Compute"
        }
        points = {
            point.cpd_id: {"network": link.resource_id}
            for link in inst_req_info.ext_virtual_links or []
            for point in link.ext_cps
        }
        return {"nfv": {"VDU": vdus, "CP": points}}


def _flavor(node):
    compute = node["capabilities"]["virtual_compute"]["properties"]
    return compute["requested_additional_capabilities"]["properties"]["requested_additional_capability_name"]


def _image(name, node, grant_info):
    made = [one.resource_identifier for one in grant_info.get(name, []) if one.resource_type == "image"]
    return made[0] if made else node["properties"]["sw_image_data"]["name"]
