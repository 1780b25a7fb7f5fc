"""A name only: no LangChain model is ever asked here."""


def create_react_agent(model, tools):
    raise NotImplementedError('this stands in for LangGraph, and asks no model')
