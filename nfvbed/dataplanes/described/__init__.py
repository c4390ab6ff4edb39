"""Any switch that its variant's file describes: programs, commands with placeholders, and what is read of them."""
