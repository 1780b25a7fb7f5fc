"""Stands in for langgraph.graph."""
