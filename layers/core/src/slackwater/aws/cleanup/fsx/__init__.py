"""Clean-up of FSx for OpenZFS file systems."""
