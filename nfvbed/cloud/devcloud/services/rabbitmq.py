"""RabbitMQ, with one scheduler thread: otherwise Erlang would spin on every core."""

from nfvbed.cloud.devcloud.nodes.channel import Command
from nfvbed.cloud.devcloud.services.service import File, Process, Service

_ENVIRONMENT = (
    ("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", "+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none"),
    ("RABBITMQ_LOGS", "-"),
)
SERVICE = Service(
    "rabbitmq",
    files=(File("/etc/rabbitmq/rabbitmq.conf", "rabbitmq.conf.j2", "root:rabbitmq"),),
    processes=(Process("rabbitmq", ("/usr/lib/rabbitmq/bin/rabbitmq-server",), "rabbitmq", _ENVIRONMENT),),
)


def ping() -> Command:
    """Return the command that succeeds when the server accepts connections."""
    return Command(("/usr/bin/python3", "-c", _CONNECT), timeout_s=10.0)


_CONNECT = "import socket; socket.create_connection(('127.0.0.1', 5672), 2).close()"
"""`rabbitmqctl` would take two seconds to start its own virtual machine."""
