"""The official BeeAI ACP server in Python, with one agent for each thing the protocol can do.

Prints its port on the first line, and stops when its standard input ends.
"""

import asyncio
import re
import socket
import sys
import threading

import uvicorn
from acp_sdk.models import (
    ACPError,
    Artifact,
    CitationMetadata,
    Error,
    ErrorCode,
    Message,
    MessageAwaitRequest,
    MessagePart,
    Metadata,
    TrajectoryMetadata,
)
from acp_sdk.models.models import Author, Capability, Link, LinkType
from acp_sdk.server import agent
from acp_sdk.server.app import create_app

# Nobody waits longer for a test.
WAIT_SECONDS = 30


def question(text):
    return MessageAwaitRequest(message=Message(role='agent', parts=[MessagePart(content=text)]))


@agent(name='echo', description='Gives back what it gets.')
async def echo(input):
    for message in input:
        yield message


@agent(name='streaming', description='Answers in pieces, with a thought in front.')
async def streaming(input):
    yield {'thought': 'in three pieces'}
    for piece in ('one ', 'two ', 'three'):
        yield MessagePart(content=piece)
    yield None
    yield MessagePart(content_type='application/json', content='{"pieces":3}')


@agent(name='awaiting', description='Asks who is there.')
async def awaiting(input):
    yield MessagePart(content='a moment. ')
    resume = yield question('who is there?')
    yield MessagePart(content=f'good day, {resume.message}')


@agent(name='failing', description='Fails on purpose.')
async def failing(input):
    yield MessagePart(content='so far so good')
    raise ACPError(Error(code=ErrorCode.INVALID_INPUT, message='that will not do', data={'limit': 3}))


@agent(name='slow', description='Goes on until it is cancelled.')
async def slow(input):
    yield MessagePart(content='begun')
    await asyncio.sleep(WAIT_SECONDS)


@agent(
    name='artifacts',
    description='Shows every kind of part.',
    input_content_types=['text/plain'],
    output_content_types=['text/plain', 'application/json', 'image/png'],
    metadata=Metadata(
        documentation='# Parts\n\nOne of each.',
        license='Apache-2.0',
        programming_language='Python',
        natural_languages=['en'],
        framework='none',
        capabilities=[Capability(name='Parts', description='shows every kind of part')],
        domains=['testing'],
        tags=['Canvas'],
        author=Author(name='A. Tester', email='tester@example.org', url='https://example.org/tester'),
        links=[Link(type=LinkType.HOMEPAGE, url='https://example.org/parts')],
    ),
)
async def artifacts(input):
    yield Artifact(name='report.json', content_type='application/json', content='{"total":2}')
    yield Artifact(name='dot.png', content_type='image/png', content='AAH+/w==', content_encoding='base64')
    yield MessagePart(content_type='text/html', content_url='https://files.example/page.html')
    yield MessagePart(
        content='as it is written',
        metadata=CitationMetadata(start_index=3, end_index=5, url='https://source.example/', title='The source'),
    )
    yield MessagePart(
        metadata=TrajectoryMetadata(tool_name='look-up', tool_input={'word': 'dot'}, tool_output={'found': True})
    )


@agent(name='sessions', description='Says what the session holds so far.')
async def sessions(input, context):
    history = [str(message) async for message in context.session.load_history()]
    yield MessagePart(content=f'{len(history)} before: {"; ".join(history)}')


@agent(
    name='conform',
    description='does what a test commands',
    metadata=Metadata(tags=['koine-conformance']),
)
async def conform(input, context):
    """The same commands as every other server under test understands."""
    text = '\n'.join(map(str, input))
    first = next((part.content or '' for message in input for part in message.parts), '')
    word, count = (re.match(r'conform: (\w+)\s*(\d*)', first) or re.match('()()', '')).groups()
    if word in ('task', 'stream', 'ask', 'wait', 'fail', 'reject', 'authorize', 'echo'):
        yield {'message': 'on it'}
    if word == 'task':
        yield Artifact(name='result', content='done')
        yield None
        yield MessagePart(content='finished')
    elif word == 'stream':
        for chunk in range(1, int(count or 3) + 1):
            yield Artifact(name='stream', content=f'chunk {chunk} ')
    elif word in ('ask', 'authorize'):
        resume = yield question('what is the answer?' if word == 'ask' else 'bring a key')
        yield MessagePart(content=f'the answer was: {resume.message}')
    elif word == 'wait':
        await asyncio.sleep(WAIT_SECONDS)
    elif word in ('fail', 'reject'):
        raise ACPError(Error(code=ErrorCode.SERVER_ERROR, message='as commanded'))
    elif word == 'throw':
        raise RuntimeError('inner secret: this must not leave the process')
    elif word == 'echo':
        for message in input:
            for part in message.parts:
                yield part
    else:
        yield MessagePart(content=f'you said: {text}')


async def main():
    listening = socket.socket()
    listening.bind(('127.0.0.1', 0))
    listening.listen()
    app = create_app(conform, echo, streaming, awaiting, failing, slow, artifacts, sessions)
    server = uvicorn.Server(uvicorn.Config(app, log_level='critical', timeout_graceful_shutdown=1))

    def stop():
        sys.stdin.read()
        server.should_exit = True

    threading.Thread(target=stop, daemon=True).start()
    print(listening.getsockname()[1], flush=True)
    await server.serve(sockets=[listening])


asyncio.run(main())
