"""What is before every request: connections, where they come from, who is signed in, and the headers of answers."""
