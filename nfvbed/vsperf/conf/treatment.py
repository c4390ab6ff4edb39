"""The treatment of every setting of VSPERF's releases: used, missing, or noted, each with its reason.

No setting has a treatment by default: a name that is not here is unknown, and told as such. Those of one switch are in
its data plane's room. That every name of every release is known is tested on their recorded lists
(`tests/unit/vsperf/released`).
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from nfvbed.dataplanes.catalogue import CATALOGUE
from nfvbed.dataplanes.vsperfswitch import VsperfSwitch
from nfvbed.errors import InternalError


class Treatment(StrEnum):
    """The treatment of a setting."""

    USED = "used"
    """It shapes the experiment; a value that nfvbed cannot give is missing."""
    MISSING = "missing"
    """It changes what is measured, and nfvbed does one thing only: another value than VSPERF's default is refused."""
    NOTED = "noted"
    """It changes nothing of what nfvbed measures, whatever its value."""


class Relevance(StrEnum):
    """The tests in which a setting changes a measurement; others use it neither in VSPERF nor in nfvbed."""

    ALWAYS = "every test"
    VNFS = "tests with VNFs, but for containers"
    GUESTS = "tests whose VNFs are virtual machines"
    TESTPMD = "tests whose VNFs forward with testpmd"
    TAPS = "tests whose VNFs have VNF = 'QemuVirtioNet'"
    CONTAINERS = "tests with containers"
    SWITCHES = "tests of some switches"


@dataclass(frozen=True)
class Setting:
    """A setting of VSPERF, with its treatment in nfvbed."""

    treatment: Treatment
    reason: str
    """What it becomes; what nfvbed does instead; or why it changes nothing."""
    matters: Relevance = Relevance.ALWAYS
    accepts: tuple[Any, ...] = ()
    """Values of a `MISSING` setting, beside VSPERF's default, that are what nfvbed does anyway."""
    differs: bool = False
    """Whether VSPERF's default of a `MISSING` setting is not what nfvbed does either, and a note says so."""
    switches: frozenset[str] = frozenset()
    """Switches, by VSWITCH, in whose tests a setting of `Relevance.SWITCHES` matters."""

    def matters_in(self, features: Collection[Relevance], vswitch: str) -> bool:
        """Return whether it changes a measurement in a test with these features, and this VSWITCH."""
        return vswitch in self.switches if self.matters is Relevance.SWITCHES else self.matters in features


def _group(setting: Setting, names: str) -> dict[str, Setting]:
    return dict.fromkeys(names.split(), setting)


def _used(reason: str, names: str, matters: Relevance = Relevance.ALWAYS) -> dict[str, Setting]:
    return _group(Setting(Treatment.USED, reason, matters), names)


def _noted(reason: str, names: str) -> dict[str, Setting]:
    return _group(Setting(Treatment.NOTED, reason), names)


def _missing(
    reason: str,
    names: str,
    matters: Relevance = Relevance.ALWAYS,
    *,
    accepts: tuple[Any, ...] = (),
    differs: bool = False,
) -> dict[str, Setting]:
    return _group(Setting(Treatment.MISSING, reason, matters, accepts, differs), names)


_USED: Final = (
    _used("the tests that there are", "PERFORMANCE_TESTS INTEGRATION_TESTS K8SPERFORMANCE_TESTS"),
    _used("settings of every test", "TEST_PARAMS"),
    _used("the native test, its traffic and its frames", "TRAFFIC TRAFFICGEN_PKT_SIZES"),
    _used("length of trials, loss of the search, repetitions", "TRAFFICGEN_DURATION TRAFFICGEN_LOSSRATE"),
    _used("repetitions", "TRAFFICGEN_RFC2544_TESTS TRAFFICGEN_RFC2889_TRIALS"),
    _used("what 100 % of frame_rate is", "TRAFFICGEN_TREX_FORCE_PORT_SPEED TRAFFICGEN_TREX_PORT_SPEED"),
    _used("the variant", "VSWITCH"),
    _used("the MTU of the ports", "VSWITCH_JUMBO_FRAMES_ENABLED VSWITCH_JUMBO_FRAMES_SIZE"),
    _used("which NICs are the switch's outer ports, and their queues", "WHITELIST_NICS VSWITCH_DPDK_MULTI_QUEUES"),
    _used("the overlay variant of a tunnel within the switch", "TUNNEL_TYPE"),
    _used("the noisy neighbour of tests with a Load", "LOADGEN"),
    _used("which build of the switch is measured", "PATHS"),
    _used("the VNFs", "VNF GUEST_LOOPBACK", Relevance.VNFS),
    _used("the image of the VNFs", "GUEST_IMAGE", Relevance.GUESTS),
    _used("the flavor of the VNFs", "GUEST_MEMORY GUEST_SMP", Relevance.GUESTS),
    _used("the flavor of the VNFs", "GUEST_CORE_BINDING GUEST_THREAD_BINDING", Relevance.GUESTS),
    _used("the flavor of the VNFs", "GUEST_NIC_QUEUES", Relevance.VNFS),
    _used(
        "how testpmd forwards in the VNFs",
        "GUEST_TESTPMD_FWD_MODE GUEST_TESTPMD_PARAMS GUEST_TESTPMD_NB_CORES GUEST_TESTPMD_RXQ GUEST_TESTPMD_TXQ",
        Relevance.TESTPMD,
    ),
)

_PLACEMENT: Final = "nfvbed decides itself which core is whose, and stores it with every result"

_MISSING: Final = (
    _missing("the switch's outer ports are virtual here, no NICs", "NICS", accepts=([],), differs=True),
    _missing("there are no virtual functions among the switch's outer ports", "SRIOV_ENABLED", accepts=(False,)),
    _missing("tests run on Kubernetes where they are in K8SPERFORMANCE_TESTS alone", "K8S", accepts=(False,)),
    _missing("the last-level cache is not partitioned", "LLC_ALLOCATION", accepts=(False,)),
    _missing("a VNF has two ports", "GUEST_NICS_NR", Relevance.VNFS),
    _missing("the guest's processor is that of the host, or emulated", "GUEST_CPU_OPTIONS", Relevance.GUESTS),
    _missing("QEMU's threads are always pinned", "VNF_AFFINITIZATION_ON", Relevance.GUESTS),
    _missing(
        "receive buffers of the guest's NICs can be merged, as QEMU has it",
        "GUEST_NIC_MERGE_BUFFERS_DISABLE",
        Relevance.GUESTS,
        accepts=(False,),
        differs=True,
    ),
    _missing(_PLACEMENT, "VSWITCH_VHOST_NET_AFFINITIZATION", Relevance.TAPS, accepts=(False,)),
    _missing("guests have vhost-user ports, never vhost-cuse", "VHOST_METHOD", Relevance.VNFS, accepts=("user",)),
    _missing("the container's ports are those of Open vSwitch", "PLUGIN", Relevance.CONTAINERS),
)

_OWN: Final = "paths, log files and programs of VSPERF itself"
_OPTION: Final = "an option of VSPERF's own command line"
_STEPS: Final = "of tests that are driven step by step, which VSPERF itself runs"
_DRIVERS: Final = "drivers and kernel modules that VSPERF loads"
_GENERATOR: Final = "of another traffic generator; nfvbed sends with nfvgen"
_LINE_SPEED: Final = (
    "no release of VSPERF reads it; a line rate is declared with TRAFFICGEN_TREX_FORCE_PORT_SPEED = True and"
    " TRAFFICGEN_TREX_PORT_SPEED, in Mbit/s"
)
_GUEST: Final = "nfvbed's guests have an agent; there is no login, and no DPDK is built in them"
_ADDRESS: Final = "the path's ports have addresses of nfvbed's own"
_SOCKET: Final = "names of sockets and bridges, and which side makes a socket; frames take the same path"
_MEMORY: Final = "nfvbed reserves the hugepages that the switch and the guests need, on the nodes of their cores"
_TUNNEL: Final = "of tests with tunnels: nfvbed's overlay has addresses, bridges and network identifiers of its own"
_COLLECTOR: Final = "nfvbed accounts CPU time in every trial itself"
_LOAD: Final = "of background load; LOADGEN says whether there is any"
_CACHE: Final = "of cache partitions; LLC_ALLOCATION says whether there are any"
_VHOST: Final = "VSWITCH_VHOST_NET_AFFINITIZATION says whether vhost-net's threads are pinned"
_CLOUD: Final = "of VSPERF's own way to OpenStack and Kubernetes"
_UPLOAD: Final = "of VSPERF's database of results"
_NO_SWITCH: Final = "of tests without a switch (VSWITCH 'none'), which are refused"

_NOTED: Final = (
    _noted(
        _OWN,
        """
        DEFAULT_LOCALE DEFAULT_CMD_LOCALE ROOT_DIR SHELL_CMD LOG_DIR LOG_FILE_DEFAULT LOG_FILE_HOST_CMDS
        LOG_FILE_INFRA_METRICS_PFX VERBOSITY CUMULATIVE_PARAMS MATRIX_METRIC EXCLUDE_MODULES
        OVS_CMD_TIMEOUT RTE_TARGET VSWITCH_DIR LOG_FILE_VSWITCHD LOG_FILE_OVS LOG_FILE_VPP LOG_FILE_TRAFFIC_GEN
        TRAFFICGEN_DIR VNF_DIR LOG_FILE_QEMU LOG_FILE_GUEST_CMDS COLLECTOR_DIR LOG_FILE_PIDSTAT LOG_FILE_COLLECTD
        LOG_FILE_CADVISOR PKTFWD_DIR LOADGEN_DIR NN_LOG_FILE POD_DIR SYSMETRICS_DIR RESULTS_PATH LOG_TIMESTAMP
        LOG_TIMEMSTAMP TOOLS WHITELIST_NICS_ORIG XUNIT XUNIT_DIR
        OVS_DIR_CUSE OVS_ETC_DIR OVS_VAR_DIR QEMU_BIN QEMU_DIR
        RTE_SDK RTE_SDK_CUSE RTE_SDK_USER OVS_VSCTL_ARGS OVS_OFCTL_ARGS OVS_APPCTL_ARGS
        """,
    ),
    _noted(
        _OPTION,
        """
        CONF_FILE DURATION EXACT_TEST_NAME FWDAPP INTEGRATION LIST LIST_COLLECTORS LIST_FWDAPPS LIST_LOADGENS LIST_PODS
        LIST_SETTINGS LIST_TRAFFICGENS LIST_VNFS LIST_VSWITCHES LOAD_ENV MATRIX MODE OPENSTACK SYSMETRICS TESTS
        TEST_DIR TEST_SPEC VERSION
        """,
    ),
    _noted(
        _STEPS,
        """
        TEST_STEP_DELAY TREX_VM_INIT TREX_VM_FINIT TREX_VM_TEST TREX_VM2VM_TEST VPP_P2P VPP_PVP VPP_PVVP
        DUT_NIC1_MAC DUT_NIC2_MAC
        """,
    ),
    _noted(_DRIVERS, "BLACKLIST_NICS DPDK_MODULES OVS_MODULES SYS_MODULES VHOST_MODULE VSWITCH_VANILLA_KERNEL_MODULES"),
    _noted(_MEMORY, "DPDK_SOCKET_MEM HUGEPAGE_DIR HUGEPAGE_RAM_ALLOCATION GUEST_HUGEPAGES_NR"),
    _noted(
        _SOCKET,
        """
        VHOST_DEV_FILE VHOST_USER_SOCKS VSWITCH_VHOSTUSER_SERVER_MODE VSWITCH_BRIDGE_NAME VSWITCH_VPP_CLI_SOCK
        """,
    ),
    _noted("of Open vSwitch before 2.6; VSWITCHD_DPDK_CONFIG says it for later ones", "VSWITCHD_DPDK_ARGS"),
    _noted("VSWITCH_DPDK_MULTI_QUEUES says how many queues there are", "OVS_OLD_STYLE_MQ"),
    _noted(_CACHE, "POLICY_TYPE VSWITCH_COS VNF_COS PMD_COS NOISEVM_COS VSWITCH_CA VNF_CA PMD_CA NOISEVM_CA"),
    _noted(_CACHE, "RMD_PORT RMD_SERVER_IP RMD_API_VERSION"),
    _noted(_VHOST, "VSWITCH_VHOST_CPU_MAP"),
    _noted(
        _GENERATOR,
        """
        TRAFFICGEN TRAFFICGEN_DUMMY_RESULTS TRAFFICGEN_IXIA_ROOT_DIR TRAFFICGEN_IXIA_HOST
        TRAFFICGEN_IXIA_CARD TRAFFICGEN_IXIA_PORT1 TRAFFICGEN_IXIA_PORT2 TRAFFICGEN_IXIA_LIB_PATH
        TRAFFICGEN_EAST_IXIA_CARD TRAFFICGEN_EAST_IXIA_HOST TRAFFICGEN_EAST_IXIA_PORT
        TRAFFICGEN_WEST_IXIA_CARD TRAFFICGEN_WEST_IXIA_HOST TRAFFICGEN_WEST_IXIA_PORT
        TRAFFICGEN_IXNET_LIB_PATH TRAFFICGEN_IXNET_MACHINE TRAFFICGEN_IXNET_PORT
        TRAFFICGEN_IXNET_USER TRAFFICGEN_IXNET_CHASSIS TRAFFICGEN_IXNET_TESTER_RESULT_DIR
        TRAFFICGEN_IXNET_DUT_RESULT_DIR TRAFFICGEN_IXIA_3RD_PARTY TRAFFICGEN_IXNET_TCL_SCRIPT
        TRAFFICGEN_STC_PYTHON2_PATH TRAFFICGEN_STC_TESTCENTER_PATH TRAFFICGEN_STC_RFC2544_TPUT_TEST_FILE_NAME
        TRAFFICGEN_STC_RFC2544_METRIC TRAFFICGEN_STC_RFC2889_TEST_FILE_NAME TRAFFICGEN_STC_RFC2889_LOCATION
        TRAFFICGEN_STC_RFC2889_LOCATIONS TRAFFICGEN_STC_RFC2889_AC_LR TRAFFICGEN_STC_RFC2889_MAX_ADDRS
        TRAFFICGEN_STC_RFC2889_MAX_LR TRAFFICGEN_STC_RFC2889_MIN_ADDRS TRAFFICGEN_STC_RFC2889_MIN_LR
        TRAFFICGEN_STC_LAB_SERVER_ADDR TRAFFICGEN_STC_LICENSE_SERVER_ADDR TRAFFICGEN_STC_EAST_CHASSIS_ADDR
        TRAFFICGEN_STC_EAST_SLOT_NUM TRAFFICGEN_STC_EAST_PORT_NUM TRAFFICGEN_STC_WEST_CHASSIS_ADDR
        TRAFFICGEN_STC_WEST_SLOT_NUM TRAFFICGEN_STC_WEST_PORT_NUM TRAFFICGEN_STC_TEST_SESSION_NAME
        TRAFFICGEN_STC_RESULTS_DIR TRAFFICGEN_STC_CSV_RESULTS_FILE_PREFIX TRAFFICGEN_STC_NUMBER_OF_TRIALS
        TRAFFICGEN_STC_TRIAL_DURATION_SEC TRAFFICGEN_STC_TRAFFIC_PATTERN TRAFFICGEN_STC_SEARCH_MODE
        TRAFFICGEN_STC_LEARNING_MODE TRAFFICGEN_STC_RATE_LOWER_LIMIT_PCT TRAFFICGEN_STC_RATE_UPPER_LIMIT_PCT
        TRAFFICGEN_STC_RATE_INITIAL_PCT TRAFFICGEN_STC_RATE_STEP_PCT TRAFFICGEN_STC_RESOLUTION_PCT
        TRAFFICGEN_STC_FRAME_SIZE TRAFFICGEN_STC_ACCEPTABLE_FRAME_LOSS_PCT TRAFFICGEN_STC_EAST_INTF_ADDR
        TRAFFICGEN_STC_EAST_INTF_GATEWAY_ADDR TRAFFICGEN_STC_WEST_INTF_ADDR TRAFFICGEN_STC_WEST_INTF_GATEWAY_ADDR
        TRAFFICGEN_STC_VERBOSE TRAFFICGEN_STC_LIVE_RESULTS TRAFFICGEN_STC_LIVERESULTS_FILE
        TRAFFICGEN_XENA_IP TRAFFICGEN_XENA_PORT1 TRAFFICGEN_XENA_PORT2 TRAFFICGEN_XENA_USER TRAFFICGEN_XENA_PASSWORD
        TRAFFICGEN_XENA_MODULE1 TRAFFICGEN_XENA_MODULE2 TRAFFICGEN_XENA_PORT0_IP TRAFFICGEN_XENA_PORT0_CIDR
        TRAFFICGEN_XENA_PORT0_GATEWAY TRAFFICGEN_XENA_PORT1_IP TRAFFICGEN_XENA_PORT1_CIDR
        TRAFFICGEN_XENA_PORT1_GATEWAY TRAFFICGEN_XENA_2544_TPUT_INIT_VALUE TRAFFICGEN_XENA_2544_TPUT_MIN_VALUE
        TRAFFICGEN_XENA_2544_TPUT_MAX_VALUE TRAFFICGEN_XENA_2544_TPUT_VALUE_RESOLUTION
        TRAFFICGEN_XENA_2544_TPUT_USEPASS_THRESHHOLD TRAFFICGEN_XENA_2544_TPUT_PASS_THRESHHOLD
        TRAFFICGEN_XENA_RFC2544_VERIFY TRAFFICGEN_XENA_RFC2544_VERIFY_DURATION
        TRAFFICGEN_XENA_RFC2544_MAXIMUM_VERIFY_ATTEMPTS TRAFFICGEN_XENA_RFC2544_BINARY_RESTART_SMART_SEARCH
        TRAFFICGEN_XENA_CONT_PORT_LEARNING_ENABLED TRAFFICGEN_XENA_CONT_PORT_LEARNING_DURATION XENA_VERSION
        TRAFFICGEN_MOONGEN_HOST_IP_ADDR TRAFFICGEN_MOONGEN_USER TRAFFICGEN_MOONGEN_BASE_DIR TRAFFICGEN_MOONGEN_PORTS
        TRAFFICGEN_MOONGEN_LINE_SPEED_GBPS TRAFFICGEN_TREX_HOST_IP_ADDR TRAFFICGEN_TREX_USER TRAFFICGEN_TREX_BASE_DIR
        TRAFFICGEN_TREX_PORT1 TRAFFICGEN_TREX_PORT2 TRAFFICGEN_TREX_RFC2544_TPUT_THRESHOLD
        TRAFFICGEN_TREX_LATENCY_PPS TRAFFICGEN_TREX_LEARNING_MODE TRAFFICGEN_TREX_LEARNING_DURATION
        TRAFFICGEN_TREX_PROMISCUOUS TRAFFICGEN_TREX_LIVE_RESULTS TRAFFICGEN_TREX_LC_FILE TRAFFICGEN_TREX_LE_FILE
        TRAFFICGEN_TREX_VERIFICATION_MODE TRAFFICGEN_TREX_VERIFICATION_DURATION
        TRAFFICGEN_TREX_MAXIMUM_VERIFICATION_TRIALS TRAFFICGEN_TREX_RFC2544_MAX_REPEAT TRAFFICGEN_TREX_MAX_REPEAT
        TRAFFICGEN_TREX_RFC2544_BINARY_SEARCH_LOSS_VERIFICATION
        """,
    ),
    _noted(_LINE_SPEED, "TRAFFICGEN_TREX_LINE_SPEED_GBPS"),
    _noted(
        _GUEST,
        """
        GUEST_SHARE_DIR GUEST_TIMEOUT GUEST_BOOT_DRIVE_TYPE GUEST_SHARED_DRIVE_TYPE GUEST_DPDK_BIND_DRIVER
        GUEST_USERNAME GUEST_PASSWORD GUEST_PROMPT_LOGIN GUEST_PROMPT_PASSWORD GUEST_PROMPT GUEST_START_TIMEOUT
        GUEST_OVS_DPDK_DIR GUEST_OVS_DPDK_SHARE OVS_DPDK_SHARE GUEST_QUEUE_STATS_MAPPING GUEST_TESTPMD_CPU_MASK
        """,
    ),
    _noted(
        _ADDRESS,
        """
        GUEST_NICS GUEST_NIC1_NAME GUEST_NIC2_NAME GUEST_NET1_MAC GUEST_NET2_MAC GUEST_NET1_PCI_ADDRESS
        GUEST_NET2_PCI_ADDRESS GUEST_BRIDGE_IP VANILLA_BRIDGE_IP VANILLA_NIC1_IP_CIDR VANILLA_NIC2_IP_CIDR
        VANILLA_TGEN_PORT1_IP VANILLA_TGEN_PORT1_MAC VANILLA_TGEN_PORT2_IP VANILLA_TGEN_PORT2_MAC
        """,
    ),
    _noted(
        _TUNNEL,
        """
        VTEP_IP1 VTEP_IP2 VTEP_IP2_SUBNET TUNNEL_INTEGRATION_BRIDGE TUNNEL_EXTERNAL_BRIDGE TUNNEL_EXTERNAL_BRIDGE_IP
        TUNNEL_EXTERNAL_BRIDGE1 TUNNEL_EXTERNAL_BRIDGE2 TUNNEL_MODIFY_BRIDGE1 TUNNEL_MODIFY_BRIDGE2
        TUNNEL_MODIFY_BRIDGE_MAC1 TUNNEL_MODIFY_BRIDGE_MAC2 TUNNEL_MODIFY_BRIDGE_IP1 TUNNEL_MODIFY_BRIDGE_IP2
        TUNNEL_INT_BRIDGE_IP TRAFFICGEN_PORT1_MAC TRAFFICGEN_PORT2_MAC TRAFFICGEN_PORT1_IP TRAFFICGEN_PORT2_IP
        VXLAN_VNI VXLAN_FRAME_L2 VXLAN_FRAME_L3 VXLAN_FRAME_L4 GRE_FRAME_L2 GRE_FRAME_L3 GRE_FRAME_L4
        GENEVE_FRAME_L2 GENEVE_FRAME_L3 GENEVE_FRAME_L4 SUPPORTED_TUNNELING_PROTO
        """,
    ),
    _noted(
        _COLLECTOR,
        """
        COLLECTOR PIDSTAT_MONITOR PIDSTAT_OPTIONS PIDSTAT_SAMPLE_INTERVAL COLLECTD_IP COLLECTD_PORT
        COLLECTD_SECURITY_LEVEL COLLECTD_AUTH_FILE COLLECTD_CPU_KEYS COLLECTD_PROCESSES_KEYS COLLECTD_INTERFACE_KEYS
        COLLECTD_OVSSTAT_KEYS COLLECTD_DPDKSTAT_KEYS COLLECTD_INTELRDT_KEYS COLLECTD_INTERFACE_XKEYS
        COLLECTD_INTELRDT_XKEYS MC_COLLECTD_CSV MC_COLLECTD_CMD MC_PROX_HOME MC_PROX_CMD MC_PROX_OUT MC_CRON_OUT
        MC_BEAT_CFILE CADVISOR_STORAGE_DRIVER CADVISOR_STORAGE_HOST CADVISOR_DRIVER_DB CADVISOR_CONTAINERS
        """,
    ),
    _noted(
        _LOAD,
        """
        NN_COUNT NN_MEMORY NN_SMP NN_IMAGE NN_SHARED_DRIVE_TYPE NN_BOOT_DRIVE_TYPE NN_CORE_BINDING NN_NICS_NR
        NN_BASE_VNC_PORT
        """,
    ),
    _noted(
        _NO_SWITCH,
        "PKTFWD TESTPMD_ARGS TESTPMD_FWD_MODE TESTPMD_CSUM_LAYER TESTPMD_CSUM_CALC TESTPMD_CSUM_PARSE_TUNNEL",
    ),
    _noted(
        _CLOUD,
        """
        DEFAULT_POLLING_INTERVAL SCENARIOS SCENARIO_AVAILABILITY_ZONE SCENARIO_COMPUTE_NODES SCHEMA OS_AUTH_URL
        OS_API_VERSION OS_PROFILE OS_PROJECT_ID OS_PROJECT_NAME OS_PROJECT_DOMAIN_NAME OS_USER_DOMAIN_NAME
        OS_PROJECT_DOMAIN_ID OS_USERNAME OS_PASSWORD OS_REGION_NAME OS_INTERFACE OS_IDENTITY_API_VERSION OS_INSECURE
        OS_CA_CERT STACK_NAME CLEANUP_ON_EXIT FLAVOR_NAME IMAGE_NAME EXTERNAL_NET DNS_NAMESERVERS POD MASTER_IP
        MASTER_LOGIN MASTER_PASSWD K8S_CONFIG_FILEPATH WORKER_IP WORKER_LOGIN WORKER_PASSWD APP_NAME
        NETWORK_ATTACHMENT_FILEPATH POD_MANIFEST_FILEPATH CONFIGMAP_FILEPATH
        """,
    ),
    _noted(_UPLOAD, "OPNFVPOD OPNFV_INSTALLER OPNFV_URL PACKAGE_LIST"),
)


def _of_switches() -> dict[str, Setting]:
    """Return the settings that the rooms of data planes declare; one of several switches matters in tests of each.

    Raises:
        InternalError: two rooms say two things of one setting.
    """
    found: dict[str, Setting] = {}
    for switch in CATALOGUE.vsperf:
        for name, setting in _of_switch(switch).items():
            known = found.get(name, setting)
            if replace(known, switches=setting.switches) != setting:
                raise InternalError(f"VSPERF's setting {name} has two treatments", where=switch.vswitch)
            found[name] = replace(setting, switches=known.switches | setting.switches)
    return found


def _of_switch(switch: VsperfSwitch) -> dict[str, Setting]:
    matters, switches = Relevance.SWITCHES, frozenset((switch.vswitch,))
    used = Setting(Treatment.USED, "options of the variant", matters, switches=switches)
    fixed = {
        one.name: Setting(Treatment.MISSING, one.reason, matters, one.accepts, one.differs, switches)
        for one in switch.fixed
    }
    return dict.fromkeys(switch.used, used) | fixed


SETTINGS: Final[Mapping[str, Setting]] = MappingProxyType(
    {name: setting for group in (*_USED, *_MISSING, *_NOTED) for name, setting in group.items()} | _of_switches()
)
"""Every setting of VSPERF's releases; see `released.json` for the releases and their defaults."""
KNOWN: Final = SETTINGS.keys()
