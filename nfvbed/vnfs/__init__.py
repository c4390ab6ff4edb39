"""VNFs: started on a deployment's ports, believed only when a frame came through them, watched, and ended."""
