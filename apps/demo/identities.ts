import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agent, serve } from "../../src/index.js";
import { writeNewIdentity } from "../../src/internal.js";
import { createIdentity, keyFingerprint } from "../../src/public/identity.js";

/** DID documents of the demo are on this machine, without TLS. */
export const LOOPBACK_SETTINGS = { anp: { loopbackHttp: true } } as const;

/** An identity file of the demo. */
export interface DemoIdentity {
  readonly did: string;
  readonly file: string;
}

/** The identities of one run: new keys, in a folder that only this user can read, deleted when the demo stops. */
export class DemoIdentities {
  /** Only this user can read it. */
  readonly folder: string;
  readonly #closing: (() => Promise<unknown>)[] = [];

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async open(): Promise<DemoIdentities> {
    return new DemoIdentities(await mkdtemp(join(tmpdir(), "koine-demo-")));
  }

  /** An identity whose document is published by a server at this port. */
  async create(name: string, port: number): Promise<DemoIdentity> {
    return (await this.#created(name, port)).made;
  }

  /**
   * The identity of the gateway. Its document is published before the gateway opens, because the gateway proves its DID to agents while
   * it starts: so it is not at the gateway's port but at that of the harbour office.
   */
  async createPublished(name: string, port: number): Promise<DemoIdentity> {
    const { identity, made } = await this.#created(name, port);
    const office = agent({ name: "office", description: "Publishes who the gateway is", handle: () => "Nobody is here" });
    const server = await serve(office, { port, identity, settings: LOOPBACK_SETTINGS });
    this.#closing.push(() => server.close());
    return made;
  }

  async close(): Promise<void> {
    for (const close of this.#closing.splice(0)) await close();
    await rm(this.folder, { recursive: true, force: true });
  }

  async #created(name: string, port: number) {
    const did = `did:wba:localhost%3A${port}:${name}:e1_`;
    const identity = createIdentity({ name, did: (key) => `${did}${keyFingerprint(key)}` });
    const file = join(this.folder, `${name}.json`);
    await writeNewIdentity(file, identity);
    return { identity, made: { did: identity.did, file } };
  }
}
