"""Results of other tools: read with their source, written in CSIT's form; none becomes a measurement of nfvbed."""
