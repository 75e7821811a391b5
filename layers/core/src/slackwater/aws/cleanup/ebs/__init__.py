"""Clean-up of EBS volumes."""
