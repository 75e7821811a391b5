"""Frozen values: resources, metrics, verdicts, findings, money, policy. This package does no I/O."""
