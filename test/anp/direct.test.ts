import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { agent, type ConnectOptions, connect, DiscoveryCache, type ServeOptions, type Server, serve } from "../../src/index.js";
import { writeOriginProof } from "../../src/protocols/anp/authentication/origin-proof.js";
import { wbaDocument } from "../../src/protocols/anp/identity/document.js";
import { anp } from "../../src/protocols/anp/index.js";
import type { AuditEntry } from "../../src/public/auth.js";
import { createIdentity, type LocalIdentity } from "../../src/security/identity/index.js";
import { createReplayGuard } from "../../src/security/replay/index.js";
import { DEFAULT_LIMITS } from "../../src/transport/limits.js";
import { boundIdentity, DidDirectory, freePort, LOOPBACK } from "./directory.js";

/** Direct messages between two servers: the answer of an agent is another message, which reaches the call that waits for it. */

const closing: (() => Promise<unknown>)[] = [];
let directory: DidDirectory;
beforeAll(async () => {
  directory = await DidDirectory.open();
});
afterAll(() => directory.close());
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Side {
  readonly server: Server;
  readonly identity: LocalIdentity;
  readonly heard: string[];
  readonly audit: AuditEntry[];
}

async function side(name: string, options: ServeOptions = {}, handle = (text: string) => `${name}: ${text}`): Promise<Side> {
  const port = await freePort();
  const identity = boundIdentity(port, name);
  const [heard, audit]: [string[], AuditEntry[]] = [[], []];
  const server = await serve(
    agent({
      name,
      description: name,
      handle(message, task) {
        heard.push(`${task.owner} ${message.text}`);
        return handle(message.text);
      },
    }),
    {
      protocols: [anp],
      port,
      identity,
      settings: LOOPBACK,
      replay: createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now, knownSinceMs: 0 }),
      audit: { record: (entry) => void audit.push(entry), close: async () => undefined },
      ...options,
    },
  );
  closing.push(() => server.close());
  return { server, identity, heard, audit };
}

async function toward(did: string, from: Pick<Side, "identity"> & { server?: Server }, options: ConnectOptions = {}) {
  const peer = await connect(did, {
    protocols: [anp],
    pin: "anp@1.2/DIRECT",
    settings: LOOPBACK,
    identity: from.identity,
    ...(from.server === undefined ? {} : { replies: from.server.replies }),
    discoveryCache: new DiscoveryCache(),
    ...options,
  });
  closing.push(() => peer.close());
  return peer;
}

describe("a direct message", () => {
  test("is answered by another one, to the message service of its author, and settles the call that waits for it", async () => {
    const [ann, bob] = [await side("ann"), await side("bob")];
    const peer = await toward(bob.identity.did, ann);
    expect(peer.binding).toBe("DIRECT");
    expect(await peer.ask("hello")).toBe("bob: hello");
    expect([bob.heard, ann.heard]).toEqual([[`did:${ann.identity.did} hello`], []]);
  });

  test("that nobody waits for is answered to receive()", async () => {
    const [ann, bob] = [await side("ann"), await side("bob")];
    const peer = await toward(bob.identity.did, ann);
    const messages = peer.receive()[Symbol.asyncIterator]();
    expect(await peer.start("later")).toMatchObject({ kind: "task", task: { status: { state: "submitted" } } });
    const { value } = await messages.next();
    expect(value).toMatchObject({ role: "agent", content: [{ text: "bob: later" }], src: bob.identity.did });
  });

  test("is not answered if it is an answer itself: two agents do not go on for ever", async () => {
    const [ann, bob] = [await side("ann"), await side("bob")];
    const alone = await toward(bob.identity.did, { identity: ann.identity });
    await alone.start("hello");
    // Nobody at ann's expects the answer: her agent gets it, and what it returns is not sent.
    await expect.poll(() => ann.heard).toEqual([`did:${bob.identity.did} bob: hello`]);
    const peer = await toward(bob.identity.did, ann);
    expect(await peer.ask("last")).toBe("bob: last");
    expect(bob.heard.map((each) => each.split(" ")[1])).toEqual(["hello", "last"]);
  });

  test("is not waited for where no answer can arrive", async () => {
    const bob = await side("bob");
    const ann = { identity: await directory.create("ann") };
    const peer = await toward(bob.identity.did, ann);
    await expect(peer.ask("hello")).rejects.toMatchObject({ code: "unsupported", facts: { sent: "no" } });
    expect(bob.heard).toEqual([]);
  });

  test("is found where the document names nothing but a message service", async () => {
    const [ann, bob] = [await side("ann"), await side("bob")];
    const did = `did:wba:localhost%3A${directory.port}:only`;
    const only = createIdentity({ name: "only", did });
    const service = { id: `${did}#m`, type: "ANPMessageService", serviceEndpoint: `http://localhost:${bob.server.port}/anp/rpc` };
    directory.put(did, JSON.stringify(await wbaDocument(only, { services: [service] }, Date.now())));
    const described = await connect(did, { protocols: [anp], settings: LOOPBACK, discoveryCache: new DiscoveryCache() });
    closing.push(() => described.close());
    // Its address has a description of another agent's, which is found first.
    expect(described.binding).not.toBe("DIRECT");
    const peer = await toward(did, ann);
    expect(peer.binding).toBe("DIRECT");
    await expect(peer.ask("hello")).rejects.toMatchObject({ code: "not_found" }); // for another DID
  });
});

describe("an answer is not sent", () => {
  const rpc = async ({ server }: Side, params: object) =>
    (
      await fetch(`${server.url}/anp/rpc`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: "q", method: "direct.send", params }),
      })
    ).json() as Promise<{ result?: { accepted: boolean }; error?: { code: number } }>;

  let operation = 0;
  async function direct(author: LocalIdentity, to: string, text: string) {
    const id = `o-${++operation}`;
    const meta = {
      profile: "anp.direct.base.v1",
      security_profile: "transport-protected",
      sender_did: author.did,
      target: { kind: "agent", did: to },
      operation_id: id,
      message_id: id,
      created_at: "2026-01-02T03:04:05Z",
      content_type: "text/plain",
    };
    const body = { text };
    return { meta, body, auth: await writeOriginProof({ method: "direct.send", meta, body }, author, Date.now) };
  }

  async function author(name: string, serviceEndpoint: string): Promise<LocalIdentity> {
    const identity = boundIdentity(directory.port, name);
    const services = [{ id: `${identity.did}#m`, type: "ANPMessageService", serviceEndpoint }];
    directory.put(identity.did, JSON.stringify(await wbaDocument(identity, { services }, Date.now())));
    return identity;
  }

  test("to an address inside the network that a document from outside names", async () => {
    // The document is read from an allowed host; what it names is not allowed with it.
    const bob = await side("bob", { names: ["agents.example"], followTo: [`localhost:${directory.port}`] });
    const asked = directory.asked.length;
    const spy = await author("spy", `http://127.0.0.1:${directory.port}/admin`);
    expect((await rpc(bob, await direct(spy, bob.identity.did, "hello"))).result).toMatchObject({ accepted: true });
    await expect
      .poll(() => bob.audit.filter(({ event }) => event === "refused").map(({ reason }) => reason))
      .toEqual([expect.stringContaining("not sent")]);
    expect(directory.asked.slice(asked)).not.toContain("/admin");
  });

  test("more often than one message each, and a sender has a share of the inbox", async () => {
    let open = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      open = resolve;
    });
    const port = await freePort();
    const identity = boundIdentity(port, "slow");
    const slow = agent({ name: "slow", description: "waits", handle: () => held.then(() => "done") });
    const server = await serve(slow, {
      protocols: [anp],
      port,
      identity,
      settings: LOOPBACK,
      limits: { inboxMessagesPerSender: 2 },
      replay: createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now, knownSinceMs: 0 }),
    });
    closing.push(() => server.close());
    const at = { server } as Side;
    const flood = await author("flood", `http://localhost:${directory.port}/victim`);
    const other = await directory.create("other");
    for (let sent = 0; sent < 2; sent++)
      expect((await rpc(at, await direct(flood, identity.did, "x"))).result).toMatchObject({ accepted: true });
    const refused = await direct(flood, identity.did, "x");
    expect((await rpc(at, refused)).error).toMatchObject({ code: 1011 });
    expect((await rpc(at, await direct(other, identity.did, "x"))).result).toMatchObject({ accepted: true });
    const asked = directory.asked.length;
    open();
    const victims = () => directory.asked.slice(asked).filter((path) => path === "/victim").length;
    await expect.poll(victims).toBe(2);
    // Once there is room, the message that was refused is delivered when it is sent again.
    expect((await rpc(at, refused)).result).toMatchObject({ accepted: true });
    await expect.poll(victims).toBe(3);
  });
});
