"""Lists the resources of an account."""
