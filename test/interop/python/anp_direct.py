"""A direct message (P3) with the origin proof of the official library, and the check of the answer that arrives.

Arguments: the address of the JSON-RPC endpoint, the target DID, the DID document of the author, its private key, the document of the
target, and the port at which the answer arrives. Prints what it saw in each check.
"""

import asyncio
import json
import secrets
import sys
import time

import aiohttp
from aiohttp import web
from anp.proof import Rfc9421OriginProofGenerationOptions, generate_rfc9421_origin_proof, verify_rfc9421_origin_proof
from cryptography.hazmat.primitives.serialization import load_pem_private_key

SCHEME = 'anp-rfc9421-origin-proof-v1'


def checked(params, document, body):
    """Whether the library accepts the proof of a message."""
    try:
        verify_rfc9421_origin_proof(params['auth']['origin_proof'], 'direct.send', params['meta'], body, did_document=document)
        return True
    except Exception:  # noqa: BLE001: the library has several
        return False


async def main(rpc, target, document, key, target_document, port):
    answers = asyncio.Queue()

    async def incoming(request):
        message = await request.json()
        await answers.put(message['params'])
        meta = message['params']['meta']
        result = {'accepted': True, 'message_id': meta['message_id'], 'operation_id': meta['operation_id'], 'target_did': document['id']}
        return web.json_response({'jsonrpc': '2.0', 'id': message['id'], 'result': result})

    app = web.Application()
    app.router.add_post('/rpc', incoming)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, '127.0.0.1', port).start()
    meta = {
        'profile': 'anp.direct.base.v1',
        'security_profile': 'transport-protected',
        'sender_did': document['id'],
        'target': {'kind': 'agent', 'did': target},
        'operation_id': 'py-1',
        'message_id': 'py-1',
        'created_at': '2026-01-02T03:04:05Z',
        'content_type': 'text/plain',
    }
    body = {'conversation_id': 's-1', 'text': 'hello from python'}
    # Without these the library signs one nonce and writes another.
    options = Rfc9421OriginProofGenerationOptions(created=int(time.time()), nonce=secrets.token_hex(16))
    proof = generate_rfc9421_origin_proof('direct.send', meta, body, key, document['authentication'][0], options=options)
    params = {'meta': meta, 'auth': {'scheme': SCHEME, 'origin_proof': dict(proof)}, 'body': body}

    async def post(client, sent):
        payload = {'jsonrpc': '2.0', 'id': 'q-1', 'method': 'direct.send', 'params': sent}
        async with client.post(rpc, json=payload) as response:
            return await response.json()

    async with aiohttp.ClientSession() as client:
        changed = await post(client, {**params, 'body': {**body, 'text': 'changed'}})
        sent = await post(client, params)
    answer = await asyncio.wait_for(answers.get(), 30)
    seen = {
        'changed': changed['error']['data']['code'],
        'accepted': sent.get('result', sent),
        'answer': {
            'text': answer['body']['text'],
            'reply_to': answer['body']['reply_to_message_id'],
            'proved': checked(answer, target_document, answer['body']),
            'changed': checked(answer, target_document, {**answer['body'], 'text': 'changed'}),
        },
    }
    for check, got in seen.items():
        print(json.dumps({'check': check, 'got': got}))
    await runner.cleanup()


if __name__ == '__main__':
    _, rpc, target, document_file, key_file, target_file, port = sys.argv
    with open(document_file) as document, open(key_file, 'rb') as key, open(target_file) as own:
        asyncio.run(main(rpc, target, json.load(document), load_pem_private_key(key.read(), None), json.load(own), int(port)))
