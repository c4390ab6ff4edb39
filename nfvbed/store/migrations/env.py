"""Runs the migrations on the connection that the store hands over; all of them in its transaction."""

from alembic import context

from nfvbed.store.schema import METADATA

connection = context.config.attributes.get("connection")
if connection is None:
    context.configure(
        dialect_name=context.config.attributes["dialect"],
        target_metadata=METADATA,
        output_buffer=context.config.output_buffer,
        literal_binds=True,
        as_sql=True,
    )
else:
    # SQLite can roll DDL back; Alembic assumes it cannot, and would leave half a format behind.
    context.configure(connection=connection, target_metadata=METADATA, transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
