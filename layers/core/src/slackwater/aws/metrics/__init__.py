"""Reads CloudWatch metrics, within a budget."""
