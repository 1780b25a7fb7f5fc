"""Sends a message over gRPC to the agent at a URL, by the address on its card. Usage: grpc_send.py URL. Prints one JSON line."""

import asyncio
import json
import sys
import uuid

import grpc
import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, Part, Role, SendMessageRequest


def config():
    return ClientConfig(supported_protocol_bindings=['GRPC'], grpc_channel_factory=grpc.aio.insecure_channel)


def request():
    message = Message(message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=[Part(text='hello')])
    return SendMessageRequest(message=message)


async def main(url):
    async with httpx.AsyncClient() as http:
        card = await A2ACardResolver(http, url).get_agent_card()
    try:
        client = ClientFactory(config()).create(card)
        async with asyncio.timeout(10):
            events = [str(event) async for event in client.send_message(request())]
        got = any('you said: hello' in event for event in events)
    except Exception as problem:  # a failure is a result
        got = f'error: {type(problem).__name__}'
    print(json.dumps({'check': 'send', 'got': got}), flush=True)


asyncio.run(main(sys.argv[1]))
