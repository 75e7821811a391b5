"""Keeps everything that a scan read in a file without names, and scans again from it."""
