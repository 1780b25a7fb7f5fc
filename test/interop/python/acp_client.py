"""A scripted conversation of the official BeeAI ACP client in Python with the server at a URL.

Usage: acp_client.py URL [OTHER_URL]. The agent is `conform`. Prints one JSON line per check: what was seen, for the caller
to judge. With a second address, a session begins at the first and goes on at the second.
"""

import asyncio
import json
import sys
import uuid

from acp_sdk.client import Client
from acp_sdk.models import (
    ACPError,
    Artifact,
    CitationMetadata,
    ErrorCode,
    Message,
    MessageAwaitResume,
    MessagePart,
    RunStatus,
    Session,
    TrajectoryMetadata,
)

AGENT = 'conform'


def report(check, got):
    print(json.dumps({'check': check, 'got': got}), flush=True)


def texts(messages):
    return [str(message) for message in messages]


def summary(run):
    return {'status': run.status.value, 'output': texts(run.output)}


def line(event):
    """One event in one line: what it is, and what of it a reader would notice."""
    if event.type.startswith('run.'):
        return event.type
    if event.type == 'message.part':
        name = f' {event.part.name}:' if event.part.name else ''
        return f'message.part{name} {event.part.content}'
    if event.type == 'generic':
        return 'generic'
    return f'{event.type} {event.message.role}'


def resume(text):
    return MessageAwaitResume(message=Message(parts=[MessagePart(content=text)]))


async def refusal(awaitable):
    """The code of the error the SDK raises."""
    try:
        await awaitable
    except ACPError as error:
        return ErrorCode(error.error.code).value
    return 'no error'


async def all_of(events):
    return [event async for event in events]


async def until(client, run_id, *statuses):
    """Asks again until the run has come that far."""
    while (run := await client.run_status(run_id=run_id)).status not in statuses:
        await asyncio.sleep(0.02)
    return run


async def manifests(client):
    await client.ping()
    report('ping', True)
    listed = await all_of(client.agents())
    one = await client.agent(name=AGENT)
    report(
        'agents',
        {
            'listed': AGENT in [agent.name for agent in listed],
            'description': one.description,
            'tags': one.metadata.tags,
            'types': bool(one.input_content_types and one.output_content_types),
        },
    )


async def modes(client):
    run = await client.run_sync('hello', agent=AGENT)
    report('sync', {**summary(run), 'roles': [message.role for message in run.output]})
    report('status', summary(await client.run_status(run_id=run.run_id)))
    task = await client.run_sync('conform: task', agent=AGENT)
    named = [part.name for message in task.output for part in message.parts if part.name]
    report('artifact', {**summary(task), 'named': named})

    begun = await client.run_async('conform: task', agent=AGENT)
    ended = await until(client, begun.run_id, RunStatus.COMPLETED)
    report('async', {'begun': begun.status.value, 'output': begun.output, **summary(ended)})

    events = await all_of(client.run_stream('conform: stream 3', agent=AGENT))
    report('stream', [line(event) for event in events])
    report('streamed run', texts(events[-1].run.output))
    logged = await all_of(client.run_events(run_id=events[0].run.run_id))
    report('events', [line(event) for event in logged])


async def awaiting(client):
    asked = await client.run_sync('conform: ask', agent=AGENT)
    report('question', {'status': asked.status.value, 'asked': str(asked.await_request.message)})
    answered = await client.run_resume_sync(resume('42'), run_id=asked.run_id)
    report('answer', {'same run': answered.run_id == asked.run_id, **summary(answered)})

    asked = await client.run_sync('conform: ask', agent=AGENT)
    answered = await client.run_resume_async(resume('43'), run_id=asked.run_id)
    ended = await until(client, asked.run_id, RunStatus.COMPLETED)
    report('answer later', {'same run': answered.run_id == asked.run_id, **summary(ended)})

    asked = await all_of(client.run_stream('conform: ask', agent=AGENT))
    report('question on a stream', asked[-1].type)
    answered = await all_of(client.run_resume_stream(resume('44'), run_id=asked[0].run.run_id))
    report('answer on a stream', [line(event) for event in answered])


async def cancelling(client):
    events = client.run_stream('conform: wait', agent=AGENT)
    begun = await anext(events)
    await until(client, begun.run.run_id, RunStatus.IN_PROGRESS)
    rest = asyncio.create_task(all_of(events))
    cancelled = await client.run_cancel(run_id=begun.run.run_id)
    ended = await until(client, begun.run.run_id, RunStatus.CANCELLED)
    report(
        'cancel',
        {
            'answer': cancelled.status.value,
            'ended': ended.status.value,
            'finished': ended.finished_at is not None,
            'last': (await rest)[-1].type,
        },
    )


async def failing(client):
    failed = await client.run_sync('conform: fail', agent=AGENT)
    report('failed', [failed.status.value, ErrorCode(failed.error.code).value, failed.error.message])
    events = await all_of(client.run_stream('conform: fail', agent=AGENT))
    report('failed stream', [events[-1].type, events[-1].run.error.message])
    thrown = await client.run_sync('conform: throw', agent=AGENT)
    report('thrown', [thrown.status.value, 'inner secret' in thrown.model_dump_json()])


async def parts(client):
    run = await client.run_sync(
        [
            Message(
                parts=[
                    MessagePart(content='conform: echo'),
                    Artifact(name='four.bin', content_type='image/x-four', content='AAH+/w==', content_encoding='base64'),
                    MessagePart(content_type='text/html', content_url='https://files.example/page.html'),
                    MessagePart(content_type='application/json', content='{"deep":[1,{"ok":true}]}'),
                    MessagePart(
                        content='as it is written', metadata=CitationMetadata(url='https://source.example/', title='S')
                    ),
                    MessagePart(content='step', metadata=TrajectoryMetadata(message='looked', tool_name='look-up')),
                ]
            )
        ],
        agent=AGENT,
    )
    seen = [part for message in run.output for part in message.parts]
    report(
        'parts',
        [
            [part.content_type, part.content, part.content_encoding, part.content_url and str(part.content_url)]
            for part in seen
        ],
    )
    report('metadata', [part.metadata.kind if part.metadata else None for part in seen])
    twice = [Message(parts=[MessagePart(content=text)]) for text in ('hello', 'again')]
    both = await client.run_sync(twice, agent=AGENT)
    report('two messages', summary(both))
    older = await client.run_sync(Message(role='agent/other', parts=[MessagePart(content='hello')]), agent=AGENT)
    report('another agent', summary(older))


async def sessions(client, other):
    async with client.session() as session:
        first = await session.run_sync('one', agent=AGENT)
        second = await session.run_sync('two', agent=AGENT)
        held = await session.refresh_session()
        # Its loader keeps what it has loaded by address, so each message is fetched once.
        history = texts([message async for message in held.load_history()])
        report(
            'session',
            {
                'same': first.session_id == second.session_id == held.id,
                'history': history,
                'streamed': (await all_of(session.run_stream('three', agent=AGENT)))[-1].type,
            },
        )
        if other is not None:
            moved = await session.run_sync('four', agent=AGENT, base_url=other)
            report('session elsewhere', {'same': moved.session_id == held.id, **summary(moved)})
            after = await session.refresh_session(base_url=other)
            report('history elsewhere', texts([message async for message in after.load_history()]))
    known = Session()
    async with client.session(known) as session:
        run = await session.run_sync('hello', agent=AGENT)
        report('session of the client', run.session_id == known.id)


async def refusals(client):
    nobody = uuid.uuid4()
    done = await client.run_sync('hello', agent=AGENT)
    async with client.session() as stranger:
        report(
            'refusals',
            {
                'an unknown agent': await refusal(client.agent(name='nobody')),
                'a run of an unknown agent': await refusal(client.run_sync('hello', agent='nobody')),
                'a stream of an unknown agent': await refusal(all_of(client.run_stream('hello', agent='nobody'))),
                'status of an unknown run': await refusal(client.run_status(run_id=nobody)),
                'events of an unknown run': await refusal(all_of(client.run_events(run_id=nobody))),
                'cancel of an unknown run': await refusal(client.run_cancel(run_id=nobody)),
                'resume of an unknown run': await refusal(client.run_resume_sync(resume('42'), run_id=nobody)),
                'cancel of a finished run': await refusal(client.run_cancel(run_id=done.run_id)),
                'resume of a finished run': await refusal(client.run_resume_sync(resume('42'), run_id=done.run_id)),
                'a run id that is none': await refusal(client.run_status(run_id='no-uuid')),
                'an unknown session': await refusal(stranger.refresh_session()),
            },
        )
    report('afterwards', summary(await client.run_sync('still there?', agent=AGENT)))


async def converse(url, other=None):
    async with Client(base_url=url, timeout=30) as client:
        for step in (manifests, modes, awaiting, cancelling, failing, parts):
            await step(client)
        await sessions(client, other)
        await refusals(client)


asyncio.run(converse(*sys.argv[1:3]))
