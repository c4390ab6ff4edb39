"""All services, in the order in which they are started."""

from nfvbed.cloud.devcloud.services import (
    glance,
    heat,
    horizon,
    keystone,
    libvirt,
    mariadb,
    memcached,
    neutron,
    nova,
    openvswitch,
    placement,
    rabbitmq,
    tacker,
)
from nfvbed.cloud.devcloud.services.service import Service

INFRASTRUCTURE: tuple[Service, ...] = (
    mariadb.SERVICE,
    rabbitmq.SERVICE,
    memcached.SERVICE,
    openvswitch.SERVICE,
    libvirt.SERVICE,
)
OPENSTACK: tuple[Service, ...] = (
    keystone.SERVICE,
    glance.SERVICE,
    placement.SERVICE,
    nova.SERVICE,
    neutron.SERVICE,
    heat.SERVICE,
    tacker.SERVICE,
    horizon.SERVICE,
)
SERVICES = (*INFRASTRUCTURE, *OPENSTACK)
