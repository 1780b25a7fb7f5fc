"""Stands in for langchain-core."""
