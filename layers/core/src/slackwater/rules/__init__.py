"""Shared parts of detectors, by service: metrics, guards, evidence and recommendations. This package does no I/O."""
