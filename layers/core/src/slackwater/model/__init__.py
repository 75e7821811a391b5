"""What there is: resources, metrics, verdicts, findings and their order, money, policy. Frozen values, no behaviour of AWS."""
