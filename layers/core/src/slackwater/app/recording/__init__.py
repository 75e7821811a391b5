"""Records everything that a scan reads in a file without real names, and replays the scan from that file."""
