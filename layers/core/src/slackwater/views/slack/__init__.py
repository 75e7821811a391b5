"""What is said in Slack, as Block Kit."""
