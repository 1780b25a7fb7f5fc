"""A name only: no LangChain model is ever asked here."""


def tool(function):
    raise NotImplementedError('this stands in for langchain-core, and asks no model')
