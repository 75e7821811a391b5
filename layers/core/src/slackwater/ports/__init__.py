"""Protocols that use cases need, one module a concern. Adapters implement them."""
