"""The services of the cloud, one module each: their files, databases, users, processes and how readiness is seen."""
