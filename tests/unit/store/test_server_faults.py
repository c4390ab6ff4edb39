"""What a database server says, and what is told to be done about it; its words are PostgreSQL's."""

import pytest
from sqlalchemy.exc import ProgrammingError

from nfvbed.store.serverfaults import server_fault


@pytest.mark.parametrize(
    ("said", "fix"),
    [
        ('FATAL:  role "nobody" does not exist', "createuser"),
        ('FATAL:  database "nowhere" does not exist', "createdb"),
        ('ERROR:  relation "trial" does not exist', "see what the message says"),
        ("ERROR:  column run.label does not exist", "see what the message says"),
        ("ERROR:  permission denied for schema public", "grant it CREATE"),
        ("FATAL:  no pg_hba.conf entry for host", "correct the user or the password"),
    ],
)
def test_a_table_that_is_lacking_is_no_user_and_no_database(said, fix):
    told = server_fault(ProgrammingError("SELECT 1", {}, Exception(said)), "the store cannot be read", "a server")
    assert fix in told.fix
