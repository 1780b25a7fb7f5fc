"""The official ANP client in Python against a server: discovery, calls, tokens, and requests that were changed on the way.

Arguments: the address of the agent description, the DID document and the private key of the caller. Prints what it saw in each check.
"""

import asyncio
import json
import sys

import aiohttp
from anp.authentication import DIDWbaAuthHeader
from anp.openanp import RemoteAgent


def body_of(text):
    return json.dumps({'jsonrpc': '2.0', 'id': '1', 'method': 'ask', 'params': {'text': text}}).encode()


async def sent(client, url, body, headers):
    async with client.post(url, data=body, headers={'Content-Type': 'application/json', **headers}) as response:
        return response.status, dict(response.headers), await response.json()


async def post(client, auth, url, signed, body=None):
    """One request as the library signs it. A challenge is answered as the library does."""
    headers = auth.get_auth_header(url, force_new=True, method='POST', headers={}, body=signed)
    answer = await sent(client, url, body or signed, headers)
    if answer[0] == 401 and auth.should_retry_after_401(answer[1]):
        headers = auth.get_challenge_auth_header(url, answer[1], method='POST', headers={}, body=signed)
        answer = await sent(client, url, body or signed, headers)
    return answer


def shown(answer):
    status, headers, body = answer
    challenge = next((value for name, value in headers.items() if name.lower() == 'www-authenticate'), '')
    error = challenge.split('error="', 1)[1].split('"', 1)[0] if 'error="' in challenge else None
    return {'status': status, 'error': error, 'answer': body.get('result')}


async def main(ad_url, document, key):
    seen = {}
    rpc = ad_url.replace('ad.json', 'rpc')
    async with aiohttp.ClientSession() as client:
        for mode in ('http_signatures', 'legacy_didwba'):
            auth = DIDWbaAuthHeader(document, key, auth_mode=mode)
            response = await post(client, auth, rpc, body_of('who'))
            seen[mode] = shown(response)
            if auth.update_token(rpc, response[1]):
                seen[f'{mode} token'] = shown(await sent(client, rpc, body_of('who'), auth.get_auth_header(rpc)))
        auth = DIDWbaAuthHeader(document, key)
        seen['changed'] = shown(await post(client, auth, rpc, body_of('who'), body_of('whu')))
    agent = await RemoteAgent.discover(ad_url, DIDWbaAuthHeader(document, key))
    seen['discovered'] = {'name': agent.name, 'methods': list(agent.method_names)}
    seen['called'] = await agent.ask(text='who')
    for check, got in seen.items():
        print(json.dumps({'check': check, 'got': got}))


if __name__ == '__main__':
    asyncio.run(main(*sys.argv[1:]))
