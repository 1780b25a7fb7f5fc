"""Agents of the official ANP library in Python: OpenANP and FastANP, each behind the library's own authentication.

Arguments: openanp or fastanp, and the address at which DID documents of callers are found. Prints its port on the first line, and stops
when its standard input ends.
"""

import socket
import sys
import threading

import anp.authentication.did_wba_verifier as verifier_module
import uvicorn
from anp.authentication import DidWbaVerifierConfig
from anp.authentication.did_resolver import resolve_did_document
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from fastapi import FastAPI


def use_documents_at(base_url):
    """The library's own hook for tests: documents are fetched from this address instead of by https."""

    async def resolve(did, *_args, **_kwargs):
        return await resolve_did_document(did, base_url_override=base_url)

    verifier_module.resolve_did_document = resolve
    verifier_module.resolve_did_wba_document = resolve


def config():
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    public = (
        key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
    )
    return DidWbaVerifierConfig(jwt_private_key=private, jwt_public_key=public)


def open_anp(port):
    from anp.openanp import AgentConfig, anp_agent, interface
    from anp.openanp.middleware import create_auth_middleware

    @anp_agent(AgentConfig(name='Greeter', did=f'did:wba:localhost%3A{port}:greeter', description='Greets people'))
    class Greeter:
        @interface
        async def greet(self, name: str) -> dict:
            """Greets somebody by name."""
            return {'greeting': f'hello {name}'}

    app = FastAPI()
    app.include_router(Greeter.router())
    exempt = ['/ad.json', '/interface.json']
    app.middleware('http')(create_auth_middleware(config(), exempt))
    return app


def fast_anp(port):
    from anp.fastanp import FastANP

    app = FastAPI()
    anp = FastANP(
        app=app,
        name='Greeter',
        description='Greets people',
        did=f'did:wba:localhost%3A{port}:greeter',
        agent_domain=f'http://localhost:{port}',
        auth_config=config(),
    )

    @app.get('/ad.json')
    def description():
        made = anp.get_common_header(agent_description_path='/ad.json')
        made['interfaces'] = [anp.interfaces[greet].link_summary]
        return made

    @anp.interface('/info/greet.json', description='Greets somebody by name')
    def greet(name: str) -> dict:
        """Greets somebody by name."""
        return {'greeting': f'hello {name}'}

    return app


def main(kind, documents):
    use_documents_at(documents)
    listener = socket.socket()
    listener.bind(('127.0.0.1', 0))
    listener.listen(64)
    port = listener.getsockname()[1]
    app = open_anp(port) if kind == 'openanp' else fast_anp(port)
    server = uvicorn.Server(uvicorn.Config(app, log_level='warning'))

    def stop_with_input():
        sys.stdin.read()
        server.should_exit = True

    threading.Thread(target=stop_with_input, daemon=True).start()
    print(port, flush=True)
    server.run(sockets=[listener])


if __name__ == '__main__':
    main(*sys.argv[1:])
