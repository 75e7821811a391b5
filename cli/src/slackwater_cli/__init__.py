"""Slackwater on the command line."""
