"""What is measured in which order, and when it is enough: pure functions over values."""
