"""The services of the cloud, one module each: files, databases, users, processes, and checks of readiness."""
