"""Access: connections, where they come from, who is signed in, and the headers of answers."""
