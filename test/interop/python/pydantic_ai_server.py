"""An agent of Pydantic AI with a function for its model, served by FastA2A.

Prints its port on the first line, and stops when its standard input ends.
"""

import asyncio
import socket
import sys
import threading

import uvicorn
from fasta2a.pydantic_ai import agent_to_a2a
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models.function import FunctionModel


def said(messages):
    prompts = [part.content for part in messages[-1].parts if isinstance(part, UserPromptPart)]
    return ''.join(part if isinstance(part, str) else '' for content in prompts for part in content)


async def answer(messages, info):
    text = said(messages)
    if text == 'wait':
        await asyncio.sleep(60)
    if text == 'slow':
        await asyncio.sleep(0.4)
    return ModelResponse(parts=[TextPart(f'you said: {text}')])


async def main():
    listening = socket.socket()
    listening.bind(('127.0.0.1', 0))
    listening.listen()
    port = listening.getsockname()[1]
    url = f'http://127.0.0.1:{port}'
    app = agent_to_a2a(Agent(FunctionModel(answer)), name='pydantic', url=url, description='answers with its question')
    server = uvicorn.Server(uvicorn.Config(app, log_level='error', timeout_graceful_shutdown=1))

    def stop():
        sys.stdin.read()
        server.should_exit = True

    threading.Thread(target=stop, daemon=True).start()
    print(port, flush=True)
    await server.serve(sockets=[listening])


asyncio.run(main())
