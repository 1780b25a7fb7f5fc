"""The caller of the benchmark on the official sender of Agora, agora-protocol 0.2.0, in natural language with a scripted model."""

import asyncio
import json
import sys
from pathlib import Path

from lines import run_client

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / 'test' / 'interop' / 'python'))

from agora_scripted import MemoryStorage, ScriptedToolformer  # noqa: E402
from agora import Sender  # noqa: E402

# Natural language always: what the paper measured, with a script in the place of its model.
NEVER = 10**9
FAILED = 'Error calling the tool: '


def query(prompt, tools):
    by_name = {tool.name: tool for tool in tools}

    def said(message, _round):
        text = json.loads(message.split('JSON data of the task:')[1])['text']
        heard = by_name['send_query'].func(text)
        if heard.startswith(FAILED):
            by_name['register_error'].func(heard)
        else:
            by_name['deliverStructuredOutput'].func(output=heard)
        return 'done'

    return said


async def connect(urls, seconds):
    sender = Sender.make_default(
        ScriptedToolformer({'conversation': query}),
        storage=MemoryStorage(),
        protocol_threshold=NEVER,
        negotiation_threshold=NEVER,
        implementation_threshold=NEVER,
    )

    @sender.task()
    def echo(text: str) -> str:
        """Echoes a text.

        Args:
            text (str): The text.

        Returns:
            str: The same text.
        """

    async def send(url, text):
        # The library is synchronous.
        return await asyncio.to_thread(echo, text, target=url)

    return send


asyncio.run(run_client(connect))
