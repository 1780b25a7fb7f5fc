"""A custom agent of google-adk, served by its own A2A layer, without a model.

Prints its port on the first line, and stops when its standard input ends.
"""

import asyncio
import socket
import sys
import threading

import uvicorn
from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.agents import BaseAgent
from google.adk.events import Event
from google.genai import types


class Echo(BaseAgent):
    async def _run_async_impl(self, ctx):
        said = ''.join(part.text or '' for part in ctx.user_content.parts)
        if said == 'wait':
            await asyncio.sleep(60)
        content = types.Content(role='model', parts=[types.Part(text=f'you said: {said}')])
        yield Event(author=self.name, invocation_id=ctx.invocation_id, content=content)


async def main():
    listening = socket.socket()
    listening.bind(('127.0.0.1', 0))
    listening.listen()
    port = listening.getsockname()[1]
    app = to_a2a(Echo(name='adk', description='answers with its question'), host='127.0.0.1', port=port)
    server = uvicorn.Server(uvicorn.Config(app, log_level='error', timeout_graceful_shutdown=1))

    def stop():
        sys.stdin.read()
        server.should_exit = True

    threading.Thread(target=stop, daemon=True).start()
    print(port, flush=True)
    await server.serve(sockets=[listening])


asyncio.run(main())
