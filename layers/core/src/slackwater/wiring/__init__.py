"""The composition roots: they give use cases their adapters."""
