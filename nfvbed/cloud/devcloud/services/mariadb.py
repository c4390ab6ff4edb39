"""MariaDB: one server for all services, tuned for a cloud whose data may be lost."""

from nfvbed.cloud.devcloud.nodes.channel import Command
from nfvbed.cloud.devcloud.services.service import File, Folder, Process, Service

SERVICE = Service(
    "mariadb",
    files=(File("/etc/mysql/mariadb.conf.d/99-devcloud.cnf", "mariadb.cnf.j2", "root:mysql"),),
    folders=(Folder("/run/mysqld", "mysql:mysql", 0o755),),
    processes=(Process("mariadb", ("/usr/sbin/mariadbd", "--user=mysql"), "mysql"),),
)


def ping() -> Command:
    """Return the command that succeeds when the server answers."""
    return Command(("/usr/bin/mariadb-admin", "ping"), timeout_s=10.0)


def statements(databases: dict[str, str], passwords: dict[str, str]) -> str:
    """Return the SQL that makes databases and their users.

    Args:
        databases: the user of each, by the database's name.
        passwords: of each user; hexadecimal, so that nothing must be quoted.
    """
    lines = [f"CREATE DATABASE IF NOT EXISTS {name} CHARACTER SET utf8;" for name in databases]
    lines += [
        f"CREATE USER IF NOT EXISTS '{user}'@'%' IDENTIFIED BY '{passwords[user]}';" for user in sorted(passwords)
    ]
    lines += [f"GRANT ALL PRIVILEGES ON {name}.* TO '{user}'@'%';" for name, user in databases.items()]
    return "\n".join(lines) + "\n"


def execute(sql: str) -> Command:
    """Return the command that executes SQL as MariaDB's administrator, known by user id, without a password."""
    return Command(("/usr/bin/mariadb", "--batch", "--skip-column-names"), input=sql, timeout_s=60.0)
