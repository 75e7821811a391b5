"""Backs up, deletes, changes and restores resources."""
