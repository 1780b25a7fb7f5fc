"""The caller of the benchmark on agent-connect 0.3.5: one encrypted session with each agent, found by its DID."""

import asyncio
import logging
import sys

from lines import run_client
from agent_connect.simple_node import SimpleNode

ATTEMPTS = 3
PAUSE_SECONDS = 0.5

logging.basicConfig(stream=sys.stderr, level=logging.CRITICAL)


async def nobody(_session):
    return None


async def connected(node, did):
    """A session. The library tries once and returns None for whatever fails; connecting is not measured."""
    for attempt in range(ATTEMPTS):
        session = await node.connect_to_did(did)
        if session is not None:
            return session
        print(f'attempt {attempt + 1}: no session with {did}', file=sys.stderr)
        await asyncio.sleep(PAUSE_SECONDS)
    raise RuntimeError(f'no session with {did} after {ATTEMPTS} attempts')


async def connect(dids, seconds):
    node = SimpleNode('127.0.0.1', nobody, '1')
    node.set_did_info(*node.generate_did_document())
    sessions = {}
    for did in dids:
        session = await connected(node, did)
        # A session has no numbers: the next message is the answer, so only one request may be under way.
        sessions[did] = (session, asyncio.Lock())

    async def send(did, text):
        session, turn = sessions[did]
        async with turn:
            await session.send_message(text)
            return (await session.receive_message()).decode()

    return send


asyncio.run(run_client(connect))
