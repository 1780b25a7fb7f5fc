"""A name only: no LangChain model is ever asked here."""


class CompiledGraph:
    pass
