"""Slack: digests, deliveries, and what people ask for there."""
