"""What several detectors share: metrics, guards, evidence and recommendations by service. Pure."""
