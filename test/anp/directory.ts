import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { didWbaOf } from "../../src/protocols/anp/identity/did-wba.js";
import { wbaDocument } from "../../src/protocols/anp/identity/document.js";
import { createIdentity, type KeyKind, type LocalIdentity } from "../../src/security/identity/index.js";

/** The settings of a test: DID documents are on this machine, without TLS. */
export const LOOPBACK = { anp: { loopbackHttp: true } } as const;

/** A port that nothing uses, for a server whose DID names it. */
export async function freePort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** An identity whose DID names its key: `did:wba:localhost%3A<port>:<name>:e1_…`. */
export function boundIdentity(port: number, name: string, kinds: readonly KeyKind[] = ["Ed25519", "X25519"]): LocalIdentity {
  return createIdentity({ name, did: (key) => didWbaOf(`did:wba:localhost%3A${port}:${name}`, key), kinds });
}

/** Publishes the DID documents of callers on this machine, as their own web servers would. */
export class DidDirectory {
  readonly #documents = new Map<string, string>();
  /** Paths that were asked for. */
  readonly asked: string[] = [];
  /** Nothing is answered before this. */
  ready: Promise<void> = Promise.resolve();
  readonly #server = createServer(async (request, response) => {
    this.asked.push(request.url ?? "");
    await this.ready;
    const document = this.#documents.get(request.url ?? "");
    response.writeHead(document === undefined ? 404 : 200, { "content-type": "application/json" }).end(document);
  });
  port = 0;

  static async open(): Promise<DidDirectory> {
    const directory = new DidDirectory();
    await new Promise<void>((resolve) => directory.#server.listen(0, "127.0.0.1", resolve));
    directory.port = (directory.#server.address() as { port: number }).port;
    return directory;
  }

  close(): Promise<unknown> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }

  async create(name: string, kinds?: readonly KeyKind[]): Promise<LocalIdentity> {
    const identity = boundIdentity(this.port, name, kinds);
    await this.publish(identity);
    return identity;
  }

  async publish(identity: LocalIdentity, successor?: string): Promise<void> {
    const document = await wbaDocument(identity, { services: [], ...(successor === undefined ? {} : { successor }) }, Date.now());
    this.put(identity.did, JSON.stringify(document));
  }

  /** Any text in place of the document of a DID. */
  put(did: string, text: string): void {
    this.#documents.set(`/${did.split(":").slice(3).join("/")}/did.json`, text);
  }
}
