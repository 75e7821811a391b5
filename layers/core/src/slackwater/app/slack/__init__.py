"""Slack: digests, deliveries, and requests from people."""
