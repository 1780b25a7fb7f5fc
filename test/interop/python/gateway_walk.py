"""What the walks of all official Python clients share.

Their first argument is a JSON object of agents and the addresses of the gateways in front of them. They print one
JSON line per agent: what was seen at each check, in one line each, for the caller to judge.
"""

import asyncio
import json
import sys

# How long one check may take, and how long to wait before looking again.
CHECK_SECONDS = 15
LOOK_SECONDS = 0.01


async def walk(open_client, checks):
    """A failed check is reported in its line; the others still run."""
    for agent, url in json.loads(sys.argv[1]).items():
        async with open_client(url) as client:
            seen = {check.__name__: await outcome(check(client)) for check in checks}
        print(json.dumps({'check': agent, 'got': seen}), flush=True)


async def outcome(check):
    try:
        return await asyncio.wait_for(check, CHECK_SECONDS)
    except Exception as error:
        return f'raised {type(error).__name__}: {error}'


async def all_of(events, seen=lambda event: event):
    """What is seen of each event when it comes: some libraries change the same object with every event."""
    return [seen(event) async for event in events]


async def until(look, enough):
    while not enough(seen := await look()):
        await asyncio.sleep(LOOK_SECONDS)
    return seen


def joined(words):
    return '|'.join(word for word in words if word)


def stand_in(metadata):
    """What the gateway emulated, as reported in the metadata."""
    emulated = (metadata or {}).get('urn:koine:emulated:1')
    return f'(emulated: {", ".join(emulated)})' if emulated else ''


def followed(asked, same, answered):
    return f'{asked} → {"" if same else "another task "}{answered}'
