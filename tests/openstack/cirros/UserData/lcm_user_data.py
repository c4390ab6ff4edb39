"""Runs in Tacker: says what the parameters of BaseHOT/simple/cirros.yaml are."""

from tacker.vnfm.lcm_user_data.abstract_user_data import AbstractUserData


class CirrosUserData(AbstractUserData):
    """Networks as the request connects them."""

    @staticmethod
    def instantiate(base_hot_dict=None, vnfd_dict=None, inst_req_info=None, grant_info=None):
        """Return the stack's parameters."""
        points = {
            point.cpd_id: {"network": link.resource_id}
            for link in inst_req_info.ext_virtual_links
            for point in link.ext_cps
        }
        return {"nfv": {"CP": points, "VDU": {}}}
