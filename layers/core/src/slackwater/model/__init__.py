"""Frozen values: resources, metrics, verdicts, findings, money, policy. They call nothing."""
