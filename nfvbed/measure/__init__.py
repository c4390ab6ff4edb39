"""One trial on a deployment: traffic, CPU time, counters and core distance around it, and its record."""
