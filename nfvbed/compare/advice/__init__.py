"""What warnings about a measurement mean, and what can be done about them."""
