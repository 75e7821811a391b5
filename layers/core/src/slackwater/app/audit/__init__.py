"""Audits: plan, scan, publish."""
