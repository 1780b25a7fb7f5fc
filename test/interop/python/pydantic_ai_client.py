"""The client of FastA2A, which Pydantic AI uses, with the server at a URL. Usage: pydantic_ai_client.py URL [BINDING].

Prints one JSON line per check.
"""

import asyncio
import json
import sys
import uuid

from fasta2a.client import A2AClient


def said(text):
    return {'role': 'user', 'parts': [{'text': text}], 'kind': 'message', 'message_id': str(uuid.uuid4())}


def text_of(task):
    return ''.join(part.get('text', '') for artifact in task.get('artifacts') or [] for part in artifact['parts'])


def result_of(response):
    if response.get('error'):
        raise RuntimeError(response['error']['message'])
    return response['result']


async def report(check, work):
    try:
        got = await asyncio.wait_for(work, 15)
    except Exception as problem:  # every failure is a result
        got = f'error: {problem}'
    print(json.dumps({'check': check, 'got': got}), flush=True)


async def finished(client, text):
    """Its own server returns the task when it is submitted; the client polls."""
    task = result_of(await client.send_message(said(text)))['task']
    while task['status']['state'] in ('submitted', 'working'):
        await asyncio.sleep(0.02)
        task = result_of(await client.get_task(task['id']))
    return task


async def send(client):
    return text_of(await finished(client, 'hello'))


async def stream(client):
    streamed = ''
    async for response in client.stream_message(said('stream')):
        event = result_of(response)
        streamed += text_of({'artifacts': [event['artifact_update']['artifact']]}) if 'artifact_update' in event else ''
    return streamed


async def get(client):
    return text_of(result_of(await client.get_task((await finished(client, 'hello'))['id'])))


async def unknown(client):
    response = await client.get_task('no-such-task')
    return response['error']['code']


async def main(url):
    # With the card, as the reader of cards that it is.
    client = A2AClient(url, fetch_card=True)
    for check, work in (('send', send), ('stream', stream), ('get', get), ('unknown', unknown)):
        await report(check, work(client))


asyncio.run(main(sys.argv[1]))
