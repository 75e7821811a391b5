"""Stores data in DynamoDB and S3."""
