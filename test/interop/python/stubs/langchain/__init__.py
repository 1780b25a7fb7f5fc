"""Stands in for LangChain; see the README of this folder's parent."""
