"""Work inside running guests: forwarding paused, loads and connections started by the image's agent."""
