"""The agent of the benchmark on agent-connect 0.3.5: a SimpleNode with encrypted sessions."""

import asyncio
import logging
import sys
from urllib.parse import urlsplit

from lines import answer, end_with_input, listen, read_start, show
import uvicorn
from agent_connect.simple_node import SimpleNode

logging.basicConfig(stream=sys.stderr, level=logging.CRITICAL)


async def converse(session):
    while True:
        received = await session.receive_message()
        if received is not None:
            await session.send_message(answer(received.decode()))


async def main():
    start = read_start()
    listening = listen(start['port'])
    # The DID names the address of the proxy, which is where callers go.
    node = SimpleNode('127.0.0.1', converse, str(urlsplit(start['publicUrl']).port))
    node.set_did_info(*node.generate_did_document())
    server = uvicorn.Server(uvicorn.Config(node.app, log_level='critical'))
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    while not server.started:
        await asyncio.sleep(0.01)
    end_with_input()
    show(port=listening.getsockname()[1], address=node.did)
    await serving


asyncio.run(main())
