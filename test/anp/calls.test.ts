import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  agent,
  type ConnectOptions,
  connect,
  DiscoveryCache,
  type RemoteAgent,
  type ServeOptions,
  serve,
} from "../../src/index.js";
import { anp } from "../../src/protocols/anp/index.js";
import type { Identity } from "../../src/security/identity/index.js";
import { boundIdentity, DidDirectory, freePort, LOOPBACK } from "./directory.js";

/** ANP between two processes' worth of code on real sockets: identities with documents, signatures, tokens, streams and tasks. */

const closing: (() => Promise<unknown>)[] = [];
let directory: DidDirectory;
beforeAll(async () => {
  directory = await DidDirectory.open();
});
afterAll(() => directory.close());
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const worker = agent({
  name: "worker",
  description: "says who called",
  async *handle(message, task) {
    if (message.text === "stream") {
      yield "one ";
      yield "two";
      return;
    }
    return message.text === "who" ? task.owner : `you said: ${message.text}`;
  },
});

async function served(options: ServeOptions = {}) {
  const port = await freePort();
  const identity = boundIdentity(port, "worker");
  const server = await serve(worker, { protocols: [anp], port, identity, settings: LOOPBACK, ...options });
  closing.push(() => server.close());
  return { url: server.url, did: identity.did, identity };
}

async function called(address: string, identity: Identity | undefined, options: ConnectOptions = {}): Promise<RemoteAgent> {
  const peer = await connect(address, {
    protocols: [anp],
    discoveryCache: new DiscoveryCache(),
    settings: LOOPBACK,
    ...(identity === undefined ? {} : { identity }),
    ...options,
  });
  closing.push(() => peer.close());
  return peer;
}

describe("an agent with a did:wba", () => {
  test("publishes its document, description and interface, and is found by its DID", async () => {
    const { url, did } = await served();
    const document = await (
      await fetch(`${url.replace("127.0.0.1", "localhost")}/${did.split(":").slice(3).join("/")}/did.json`)
    ).json();
    expect(document).toMatchObject({ id: did, proof: { cryptosuite: "eddsa-jcs-2022" } });
    const description = await (await fetch(`${url}/anp/ad.json`)).json();
    expect(description).toMatchObject({
      protocolType: "ANP",
      type: "AgentDescription",
      name: "worker",
      did,
      security: "didwba_sc",
    });
    const listed = await (await fetch(`${url}/.well-known/agent-descriptions`)).json();
    expect(listed).toMatchObject({ "@type": "CollectionPage", items: [{ name: "worker", "@id": `${url}/anp/ad.json` }] });
    const peer = await called(did, await directory.create("finder"));
    expect([peer.protocol, await peer.ask("hello")]).toEqual(["anp", "you said: hello"]);
  });

  test("is not looked for on this machine without the setting", async () => {
    const { did } = await served();
    await expect(called(did, undefined, { settings: {} })).rejects.toThrow("does not speak TLS");
  });
});

describe("a caller", () => {
  test.each(["signature", "header", "header-1.0", "token"])("proves its DID by %s", async (authentication) => {
    const { url } = await served();
    const ann = await directory.create(`ann-${authentication.replace(".", "-")}`);
    const peer = await called(url, ann, { pin: "anp@1.2/JSONRPC", settings: { anp: { ...LOOPBACK.anp, authentication } } });
    expect(await peer.ask("who")).toBe(`did:${ann.did}`);
    expect(await peer.ask("who")).toBe(`did:${ann.did}`);
  });

  test.each(["Ed25519", "secp256k1"] as const)("signs with a %s key", async (kind) => {
    const { url } = await served();
    const ann = await directory.create(`key-${kind.toLowerCase()}`, [kind]);
    for (const authentication of ["signature", "header"]) {
      const peer = await called(url, ann, { pin: "anp@1.2/JSONRPC", settings: { anp: { ...LOOPBACK.anp, authentication } } });
      expect(await peer.ask("who")).toBe(`did:${ann.did}`);
    }
  });

  test("without an identity is anonymous where the host admits anyone", async () => {
    const { url } = await served();
    expect(await (await called(url, undefined, { pin: "anp@1.2/JSONRPC" })).ask("who")).toBe("anonymous:anonymous");
  });

  test("streams, and has its tasks", async () => {
    const { url } = await served();
    const ann = await directory.create("streams");
    const peer = await called(url, ann, { pin: "anp@1.2/JSONRPC" });
    const kinds: string[] = [];
    for await (const event of peer.stream("stream")) kinds.push(event.kind);
    expect(kinds[0]).toBe("task");
    expect(kinds.at(-1)).toBe("status");
    const { tasks } = await peer.listTasks();
    expect(tasks).toHaveLength(1);
  });
});
