"""Slackwater finds idle AWS storage and throttled resources, and cleans up when allowed."""
