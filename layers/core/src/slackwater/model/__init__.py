"""What there is: resources, metrics, verdicts, findings, money, policy. Frozen values, no behaviour of AWS."""
