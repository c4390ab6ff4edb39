"""Memcached: a token that was checked is not checked again for some time."""

from nfvbed.cloud.devcloud.services.service import Process, Service

_ARGV = ("/usr/bin/memcached", "-u", "memcache", "-m", "32", "-l", "127.0.0.1", "-p", "11211", "-t", "1")
SERVICE = Service("memcached", processes=(Process("memcached", _ARGV, "memcache"),))
