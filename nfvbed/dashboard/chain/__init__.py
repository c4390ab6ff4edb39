"""The page of a chain, whose VNFs are put into an order by mouse or keyboard."""
