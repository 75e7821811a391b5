"""Use cases. They import ports, and no adapter."""
