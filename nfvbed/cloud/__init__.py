"""What clouds are made of, whatever data planes run in them: nodes, services, Tacker, readings of machines."""
