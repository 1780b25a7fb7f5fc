"""A name only: no LangChain model is ever asked here."""


class BaseChatModel:
    pass
