"""The official A2A client in Python, 0.3.x, at agents behind gateways.

Usage: gateway_a2a_03.py AGENTS BINDING.
"""

import asyncio
import sys
import uuid
from contextlib import asynccontextmanager

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientHTTPError, A2AClientJSONRPCError
from a2a.types import Message, Part, Role, TaskArtifactUpdateEvent, TaskIdParams, TaskQueryParams, TextPart

# Nothing is written beside the scripts.
sys.dont_write_bytecode = True

from gateway_walk import all_of, followed, joined, stand_in, until, walk  # noqa: E402

BINDING = sys.argv[2]
UNDER_WAY = ('submitted', 'working')


class Client:
    """Three clients of the library: one that waits for answers, one that does not, and one that listens to streams."""

    def __init__(self, unary, polling, live):
        self.unary = unary
        self.polling = polling
        self.live = live

    async def send(self, text, at_once=False, **of):
        client = self.polling if at_once else self.unary
        [event] = await all_of(client.send_message(message(text, **of)))
        return event if isinstance(event, Message) else event[0]

    def stream(self, text):
        return self.live.send_message(message(text))

    def get(self, task_id):
        return self.unary.get_task(TaskQueryParams(id=task_id))


@asynccontextmanager
async def open_client(url):
    async with httpx.AsyncClient(timeout=30) as http:
        card = await A2ACardResolver(http, url).get_agent_card()

        def made(**how):
            config = ClientConfig(
                httpx_client=http, supported_transports=[BINDING], use_client_preference=True, **how
            )
            return ClientFactory(config).create(card)

        yield Client(made(streaming=False), made(streaming=False, polling=True), made(streaming=True))


def message(text, **of):
    parts = [Part(root=TextPart(text=text))]
    return Message(message_id=str(uuid.uuid4()), role=Role.user, parts=parts, **of)


def text_of(parts):
    return ''.join(part.root.text if part.root.kind == 'text' else '<other>' for part in parts)


def answer_of(answer):
    """A message by its words, a task by its state and its words."""
    if isinstance(answer, Message):
        return text_of(answer.parts)
    said = answer.status.message
    words = [*(text_of(artifact.parts) for artifact in answer.artifacts or []), text_of(said.parts) if said else '']
    return f'{answer.status.state.value}: {joined(words)}'


def piece_of(event):
    """The words of an artifact or a message; of a task only how it ends is of interest."""
    if isinstance(event, Message):
        return text_of(event.parts)
    task, update = event
    if isinstance(update, TaskArtifactUpdateEvent):
        return text_of(update.artifact.parts)
    told = update or task
    state = told.status.state.value
    return stand_in(told.metadata) if state in UNDER_WAY else state


async def ask(client):
    return answer_of(await client.send('hello'))


async def task(client):
    begun = await client.send('conform: task', at_once=True)
    if isinstance(begun, Message):
        return answer_of(begun)
    return answer_of(await until(lambda: client.get(begun.id), lambda seen: seen.status.state.value not in UNDER_WAY))


async def stream(client):
    return joined(await all_of(client.stream('conform: stream 3'), piece_of))


async def input(client):
    asked = await client.send('conform: ask')
    task_id = None if isinstance(asked, Message) else asked.id
    answered = await client.send('42', task_id=task_id, context_id=asked.context_id)
    same = isinstance(answered, Message) or answered.id == task_id
    return followed(answer_of(asked), same, answer_of(answered))


async def cancel(client):
    events = client.stream('conform: wait')
    begun, _ = await anext(events)
    rest = asyncio.create_task(all_of(events, piece_of))
    cancelled = await client.unary.cancel_task(TaskIdParams(id=begun.id))
    last = (await rest)[-1]
    after = await client.get(begun.id)
    return f'{cancelled.status.state.value}, on the stream {last}, afterwards {after.status.state.value}'


async def or_refusal(answer):
    """The code in the error the library raises: of JSON-RPC, or the HTTP status, which is all it reads on REST."""
    try:
        return answer_of(await answer)
    except A2AClientJSONRPCError as refused:
        return f'refused: {refused.error.code}'
    except A2AClientHTTPError as refused:
        return f'refused: {refused.status_code}'


async def error(client):
    return await or_refusal(client.send('conform: fail'))


async def unknown(client):
    return await or_refusal(client.get('nobody-knows-it'))


asyncio.run(walk(open_client, [ask, task, stream, input, cancel, error, unknown]))
