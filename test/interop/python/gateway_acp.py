"""The official BeeAI ACP client in Python at agents behind gateways.

Usage: gateway_acp.py AGENTS NAME, where NAME is how the gateways call the agent.
"""

import asyncio
import sys
import uuid

from acp_sdk.client import Client
from acp_sdk.models import ACPError, ErrorCode, Message, MessageAwaitResume, MessagePart, RunStatus

# Nothing is written beside the scripts.
sys.dont_write_bytecode = True

from gateway_walk import all_of, followed, joined, stand_in, until, walk  # noqa: E402

AGENT = sys.argv[2]
UNDER_WAY = ('created', 'in-progress')


def open_client(url):
    return Client(base_url=url, timeout=30)


def answer_of(run):
    """A run by its state and what it says: its output, its question, or why it failed."""
    asked = str(run.await_request.message) if run.await_request else ''
    words = [run.error.message] if run.error else [*map(str, run.output), asked]
    return f'{run.status.value}: {joined(words)}'


def piece_of(event):
    """The words of a part; of a run only how it ends is of interest."""
    if event.type == 'message.part':
        return event.part.content
    if event.type == 'generic':
        return stand_in(event.generic.model_dump())
    run = getattr(event, 'run', None)
    return '' if run is None or run.status.value in UNDER_WAY else run.status.value


async def ask(client):
    return answer_of(await client.run_sync('hello', agent=AGENT))


async def task(client):
    begun = await client.run_async('conform: task', agent=AGENT)
    ended = await until(
        lambda: client.run_status(run_id=begun.run_id), lambda seen: seen.status.value not in UNDER_WAY
    )
    return answer_of(ended)


async def stream(client):
    return joined(await all_of(client.run_stream('conform: stream 3', agent=AGENT), piece_of))


async def input(client):
    async with client.session() as session:
        asked = await session.run_sync('conform: ask', agent=AGENT)
        waits = asked.status == RunStatus.AWAITING
        if waits:
            resume = MessageAwaitResume(message=Message(parts=[MessagePart(content='42')]))
            answered = await session.run_resume_sync(resume, run_id=asked.run_id)
        else:
            answered = await session.run_sync('42', agent=AGENT)
        return followed(answer_of(asked), not waits or answered.run_id == asked.run_id, answer_of(answered))


async def cancel(client):
    events = client.run_stream('conform: wait', agent=AGENT)
    begun = await anext(events)
    rest = asyncio.create_task(all_of(events, piece_of))
    cancelled = await client.run_cancel(run_id=begun.run.run_id)
    last = (await rest)[-1]
    after = await client.run_status(run_id=begun.run.run_id)
    return f'{cancelled.status.value}, on the stream {last}, afterwards {after.status.value}'


async def error(client):
    return answer_of(await client.run_sync('conform: fail', agent=AGENT))


async def unknown(client):
    try:
        return answer_of(await client.run_status(run_id=uuid.uuid4()))
    except ACPError as refused:
        return f'refused: {ErrorCode(refused.error.code).value}'


asyncio.run(walk(open_client, [ask, task, stream, input, cancel, error, unknown]))
