"""A scripted model behind the Agora library's own Toolformer interface: the same message always gets the same answer.

Imported before `agora`, because it also lets the library load without its language model packages.
"""

import sys
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).parent / 'stubs'))

from agora import Conversation, Toolformer  # noqa: E402
from agora.common.storage import JSONStorage  # noqa: E402


class ScriptedConversation(Conversation):
    def __init__(self, answer, turns):
        self.answer = answer
        self.turns = turns
        self.round = 0

    def __call__(self, message, print_output=True):
        self.round += 1
        self.turns()
        return self.answer(message, self.round)


class ScriptedToolformer(Toolformer):
    """`scripts` maps each category of the library to a function (prompt, tools) that returns (message, round) -> text."""

    def __init__(self, scripts):
        self.scripts = scripts
        self.asked = Counter()

    def new_conversation(self, prompt, tools, category=None):
        def count():
            self.asked[category] += 1

        return ScriptedConversation(self.scripts[category](prompt, tools), count)


class MemoryStorage(JSONStorage):
    """The library's own storage, but without its file in the current folder."""

    def __init__(self):
        super().__init__('unused')

    def save_memory(self):
        pass

    def load_memory(self):
        pass
