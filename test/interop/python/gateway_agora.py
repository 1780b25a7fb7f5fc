"""The Sender of agora-protocol at agents behind gateways.

Usage: gateway_agora.py AGENTS. It has no tasks, no streams and no cancel; everything it can do is in its checks.
"""

import sys

sys.dont_write_bytecode = True

import asyncio  # noqa: E402
import json  # noqa: E402
from contextlib import asynccontextmanager  # noqa: E402

from agora_scripted import MemoryStorage, ScriptedToolformer  # noqa: E402 isort: skip
from agora import Sender  # noqa: E402
from agora.common.errors import ProtocolTransportError  # noqa: E402
from agora.sender.components.transporter import SimpleSenderTransporter  # noqa: E402
from gateway_walk import followed, walk  # noqa: E402


@asynccontextmanager
async def open_client(url):
    yield url


def hand_on(prompt, tools):
    """Says the words of the task to the receiver, and hands on what it hears."""
    tools = {tool.name: tool for tool in tools}

    def answer(message, _round):
        words = json.loads(message.split('JSON data of the task:')[1])['words']
        tools['deliverStructuredOutput'].func(output=tools['send_query'].func(words))
        return 'done'

    return answer


def say(url, *messages):
    """One conversation in natural language, by the library's own transporter."""
    with SimpleSenderTransporter().new_conversation(url, True, None, []) as conversation:
        return [conversation(message)['body'] for message in messages]


async def ask(url):
    """By the whole library: its sender, its queriers and a model that is scripted."""
    sender = Sender.make_default(ScriptedToolformer({'conversation': hand_on}), storage=MemoryStorage())

    @sender.task()
    def tell(words: str) -> str:
        """Tells somebody something.

        Args:
            words (str): What to say.

        Returns:
            str: What they answered.
        """

    return await asyncio.to_thread(tell, words='hello', target=url)


async def task(url):
    [said] = await asyncio.to_thread(say, url, 'conform: task')
    return said


async def stream(url):
    [said] = await asyncio.to_thread(say, url, 'conform: stream 3')
    return said


async def input(url):
    asked, answered = await asyncio.to_thread(say, url, 'conform: ask', '42')
    return followed(asked, True, answered)


async def error(url):
    try:
        [said] = await asyncio.to_thread(say, url, 'conform: fail')
    except ProtocolTransportError as refused:
        return f'refused: {refused}'
    return said


asyncio.run(walk(open_client, [ask, task, stream, input, error]))
