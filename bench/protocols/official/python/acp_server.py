"""The agent of the benchmark on the official Python server of ACP, acp-sdk 1.0.3."""

import asyncio

from lines import answer, read_start, serve_app
from acp_sdk.models import MessagePart
from acp_sdk.server import agent
from acp_sdk.server.app import create_app


def make_app(start):
    @agent(name=start['name'], description='An agent of the benchmark')
    async def echo(input):
        yield MessagePart(content=answer('\n'.join(map(str, input))))

    return create_app(echo)


asyncio.run(serve_app(make_app, read_start()))
