"""Names only: no LangChain model is ever asked here."""


class AIMessage:
    pass


class HumanMessage:
    pass


class SystemMessage:
    pass
