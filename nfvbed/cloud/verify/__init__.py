"""What is read of a machine of a cloud, and how."""
