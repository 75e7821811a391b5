"""What is stored, in DynamoDB and S3."""
