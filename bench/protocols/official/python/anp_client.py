"""The caller of the benchmark on agent-connect 0.3.5: one encrypted session with each agent, found by its DID."""

import asyncio
import logging
import sys

from lines import run_client
from agent_connect.simple_node import SimpleNode

logging.basicConfig(stream=sys.stderr, level=logging.CRITICAL)


async def nobody(_session):
    return None


async def connect(dids, seconds):
    node = SimpleNode('127.0.0.1', nobody, '1')
    node.set_did_info(*node.generate_did_document())
    sessions = {}
    for did in dids:
        session = await node.connect_to_did(did)
        if session is None:
            raise RuntimeError(f'no session with {did}')
        # A session has no numbers: the next message is the answer, so only one request may be under way.
        sessions[did] = (session, asyncio.Lock())

    async def send(did, text):
        session, turn = sessions[did]
        async with turn:
            await session.send_message(text)
            return (await session.receive_message()).decode()

    return send


asyncio.run(run_client(connect))
