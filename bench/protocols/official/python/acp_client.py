"""The caller of the benchmark on the official Python client of ACP, acp-sdk 1.0.3."""

import asyncio

import httpx
from lines import run_client
from acp_sdk.client import Client
from acp_sdk.models import Message, MessagePart


async def connect(urls, seconds):
    clients = {}
    for url in urls:
        client = Client(client=httpx.AsyncClient(base_url=url, timeout=seconds))
        names = [manifest.name async for manifest in client.agents()]
        clients[url] = (client, names[0])

    async def send(url, text):
        client, name = clients[url]
        message = Message(role='user', parts=[MessagePart(content=text)])
        run = await client.run_sync(agent=name, input=[message])
        run.raise_for_status()
        return ''.join(map(str, run.output))

    return send


asyncio.run(run_client(connect))
