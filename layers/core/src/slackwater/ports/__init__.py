"""Protocols that use cases need, one module for each concern. Adapters implement them."""
