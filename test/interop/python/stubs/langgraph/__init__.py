"""Stands in for LangGraph."""
