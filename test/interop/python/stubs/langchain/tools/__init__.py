"""Stands in for langchain.tools."""
