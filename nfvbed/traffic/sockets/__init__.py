"""Traffic between sockets: iperf3, netperf and sockperf, started as a server and a client, and their figures."""
