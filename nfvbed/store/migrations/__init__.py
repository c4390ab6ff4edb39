"""The steps from one format of the store to the next, run by Alembic when a store is opened for writing."""
