"""A remote agent of google-adk that calls the server at a URL. Usage: adk_client.py URL. Prints one JSON line per check."""

import asyncio
import json
import sys

from google.adk.agents.remote_a2a_agent import RemoteA2aAgent
from google.adk.runners import InMemoryRunner
from google.genai import types


async def main(url):
    agent = RemoteA2aAgent(name='remote', agent_card=f'{url}/.well-known/agent-card.json')
    runner = InMemoryRunner(agent=agent, app_name='interop')
    session = await runner.session_service.create_session(app_name='interop', user_id='user')
    texts, problems = [], []
    message = types.Content(role='user', parts=[types.Part(text='hello')])
    async for event in runner.run_async(user_id='user', session_id=session.id, new_message=message):
        if event.error_message:
            problems.append(event.error_message)
        texts += [part.text for part in (event.content.parts if event.content else []) or [] if part.text]
    print(json.dumps({'check': 'send', 'got': texts[-1] if texts else problems}), flush=True)


asyncio.run(main(sys.argv[1]))
