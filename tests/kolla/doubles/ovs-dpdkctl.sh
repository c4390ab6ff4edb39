#!/bin/bash
# Double of Kolla's program of this name, which binds NICs of the machine that it runs on to another driver, also when
# only files are rendered. It writes down what Kolla gives it.
set -euo pipefail
env | grep -E '^([a-z_]+_mappings|ovs_[a-z_]+|hugepage_[a-z_]+|[a-z_]*mask|dpdk_[a-z_]+|pci_whitelist|CONFIG_FILE)=' |
    sort >"$(dirname "$0")/given-to-$1"
