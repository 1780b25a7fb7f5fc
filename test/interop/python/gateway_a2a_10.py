"""The official A2A client in Python, 1.x, at agents behind gateways.

Usage: gateway_a2a_10.py AGENTS BINDING.
"""

import asyncio
import sys
import uuid
from contextlib import asynccontextmanager

import grpc
import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    TaskState,
)
from a2a.utils.errors import A2AError
from google.protobuf.json_format import MessageToDict

# Nothing is written beside the scripts.
sys.dont_write_bytecode = True

from gateway_walk import all_of, followed, joined, stand_in, until, walk  # noqa: E402

BINDING = sys.argv[2]
UNDER_WAY = ('submitted', 'working')


class Client:
    """Two clients of the library: one that waits for answers, and one that listens to streams."""

    def __init__(self, unary, live):
        self.unary = unary
        self.live = live

    async def send(self, text, at_once=False, **of):
        [event] = await all_of(self.unary.send_message(request(text, at_once, **of)))
        return event.message if event.HasField('message') else event.task

    def stream(self, text):
        return self.live.send_message(request(text))

    def get(self, task_id):
        return self.unary.get_task(GetTaskRequest(id=task_id))


@asynccontextmanager
async def open_client(url):
    async with httpx.AsyncClient(timeout=30) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        only = [i for i in card.supported_interfaces if (i.protocol_binding, i.protocol_version) == (BINDING, '1.0')]
        assert len(only) == 1, card.supported_interfaces
        del card.supported_interfaces[:]
        card.supported_interfaces.extend(only)

        def made(streaming):
            config = ClientConfig(
                streaming=streaming,
                httpx_client=http,
                grpc_channel_factory=grpc.aio.insecure_channel,
                supported_protocol_bindings=[BINDING],
            )
            return ClientFactory(config).create(card)

        yield Client(made(False), made(True))


def request(text, at_once=False, **of):
    message = Message(message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=[Part(text=text)], **of)
    return SendMessageRequest(message=message, configuration=SendMessageConfiguration(return_immediately=at_once))


def text_of(parts):
    return ''.join(part.text if part.WhichOneof('content') == 'text' else '<other>' for part in parts)


def state_of(status):
    return TaskState.Name(status.state).removeprefix('TASK_STATE_').lower().replace('_', '-')


def answer_of(answer):
    """A message by its words, a task by its state and its words."""
    if isinstance(answer, Message):
        return text_of(answer.parts)
    words = [*(text_of(artifact.parts) for artifact in answer.artifacts), text_of(answer.status.message.parts)]
    return f'{state_of(answer.status)}: {joined(words)}'


def piece_of(event):
    """The words of an artifact or a message; of a task only how it ends is of interest."""
    kind = event.WhichOneof('payload')
    if kind == 'message':
        return text_of(event.message.parts)
    if kind == 'artifact_update':
        return text_of(event.artifact_update.artifact.parts)
    told = event.task if kind == 'task' else event.status_update
    state = state_of(told.status)
    return stand_in(MessageToDict(told.metadata)) if state in UNDER_WAY else state


async def ask(client):
    return answer_of(await client.send('hello'))


async def task(client):
    begun = await client.send('conform: task', at_once=True)
    if isinstance(begun, Message):
        return answer_of(begun)
    return answer_of(await until(lambda: client.get(begun.id), lambda seen: state_of(seen.status) not in UNDER_WAY))


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
    begun = (await anext(events)).task
    rest = asyncio.create_task(all_of(events, piece_of))
    cancelled = await client.unary.cancel_task(CancelTaskRequest(id=begun.id))
    last = (await rest)[-1]
    after = await client.get(begun.id)
    return f'{state_of(cancelled.status)}, on the stream {last}, afterwards {state_of(after.status)}'


async def or_refusal(answer):
    try:
        return answer_of(await answer)
    except A2AError as refused:
        return f'refused: {type(refused).__name__}'


async def error(client):
    return await or_refusal(client.send('conform: fail'))


async def unknown(client):
    return await or_refusal(client.get('nobody-knows-it'))


asyncio.run(walk(open_client, [ask, task, stream, input, cancel, error, unknown]))
