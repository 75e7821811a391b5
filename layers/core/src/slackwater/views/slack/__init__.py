"""Slack messages, as Block Kit."""
