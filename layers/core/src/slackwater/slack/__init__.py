"""Slack: its client, its webhooks, its signatures."""
