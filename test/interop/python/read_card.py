"""Reads the card of the server at a URL by the client of the installed library. Usage: read_card.py URL. Prints one JSON line."""

import asyncio
import json
import sys

import httpx


async def name_at(url):
    try:
        from fasta2a.client import A2AClient

        return A2AClient(url, fetch_card=True).agent_card['name']
    except ImportError:
        from a2a.client import A2ACardResolver

        async with httpx.AsyncClient() as http:
            return (await A2ACardResolver(http, url).get_agent_card()).name


print(json.dumps({'check': 'card', 'got': asyncio.run(name_at(sys.argv[1]))}), flush=True)
