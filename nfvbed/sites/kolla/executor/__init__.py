"""Runs kolla-ansible and nfvbed's playbooks on the machines of a rack: stage by stage, journalled, without a secret."""
