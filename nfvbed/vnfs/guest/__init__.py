"""Work inside guests that stand already: forwarding paused, loads and connections started by the image's agent."""
