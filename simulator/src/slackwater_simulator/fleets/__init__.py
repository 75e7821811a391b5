"""Fleets: whole accounts with known truth."""
