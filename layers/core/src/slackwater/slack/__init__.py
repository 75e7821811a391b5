"""Adapters for Slack: bot and webhook clients, request signatures, and the secret."""
