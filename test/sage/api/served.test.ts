import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Call, type Envelope, type Handler, type OperationOf, startCall } from "../../../src/envelope/index.js";
import { newAgent, newMessage, optional, ProtocolAuto, SeenPeers } from "../../../src/protocols/sage/api/index.js";
import { requireSeenPeers } from "../../../src/protocols/sage/api/required-peers.js";
import type { LocalIdentity } from "../../../src/security/identity/index.js";
import { createMemoryStore } from "../../../src/tasks/index.js";
import { freePort } from "../../anp/directory.js";
import { capturedSend, type Sent } from "../captured.js";
import { DoorWorld } from "./world.js";

/** What an attacker who sees the requests of a caller can do to agents of the door. */

const world = new DoorWorld();
let lobby: { readonly url: string; readonly did: string };
let desk: { readonly url: string; readonly did: string };
let ann: LocalIdentity;
beforeAll(async () => {
  const port = await freePort();
  const identity = await world.register(`http://127.0.0.1:${port}`);
  const built = newAgent("lobby")
    .withProtocol(ProtocolAuto)
    .withSAGE(optional(await world.sageOf(identity)))
    .onMessage((message, task) => `${task.caller}: ${message.text}`)
    .build();
  const server = await built.serve({ port });
  world.closing(() => server.close());
  lobby = { url: server.url, did: identity.did };
  desk = await world.desk();
  ann = await world.register();
});
afterAll(() => world.close());

const captured = (did: string): Promise<Sent> => capturedSend(world, did, ann);

async function post({ url, headers, body }: Sent): Promise<string> {
  const response = await fetch(url, { method: "POST", headers, body });
  const answer = (await response.json()) as {
    readonly result?: { readonly message?: { readonly parts: readonly { readonly text: string }[] } };
    readonly error?: { readonly message: string; readonly data?: readonly { readonly metadata?: { readonly error?: string } }[] };
  };
  return answer.result?.message?.parts[0]?.text ?? answer.error?.data?.[0]?.metadata?.error ?? answer.error?.message ?? "";
}

const MARKS = ["signature", "signature-input", "content-digest", "x-agent-did", "x-sage-session", "x-sage-stream"];
const unsigned = (sent: Sent): Sent => ({
  ...sent,
  headers: Object.fromEntries(Object.entries(sent.headers).filter(([name]) => !MARKS.includes(name))),
});
const withMessage = (sent: Sent, change: (message: { metadata?: Record<string, unknown> }) => void): Sent => {
  const body = JSON.parse(sent.body) as { params: { message: { metadata?: Record<string, unknown> } } };
  change(body.params.message);
  return { ...sent, body: JSON.stringify(body) };
};

describe("an agent that takes both", () => {
  test("answers a signed request once", async () => {
    const sent = await captured(lobby.did);
    expect(await post(sent)).toBe(`${ann.did}: hello`);
    expect(await post(sent)).toBe("ErrReplayAttack");
  });

  test("does not take a request for a plain one because its signature is missing", async () => {
    const sent = await captured(lobby.did);
    const { signature: _s, "signature-input": _i, ...headers } = sent.headers;
    expect(await post({ ...sent, headers })).toBe("ErrInvalidSignature");
    expect(await post({ ...sent, body: sent.body.replace("hello", "hullo") })).toBe("ErrInvalidSignature");
  });

  test("refuses a message whose member security was removed, and one whose text was changed, without the signature of the request", async () => {
    const sent = unsigned(await captured(lobby.did));
    const removed = withMessage(sent, (message) => {
      delete message.metadata?.["urn:koine:sage:1"];
    });
    expect(removed.body).not.toBe(sent.body);
    expect(await post(removed)).toContain("ErrInvalidSignature");
    const other = withMessage(sent, (message) => {
      Object.assign(message, { parts: [{ text: "hullo" }] });
    });
    expect(await post(other)).toContain("ErrInvalidSignature");
  });

  test("has an answer for what bears no mark at all, as a message of nobody", async () => {
    const bare = withMessage(unsigned(await captured(lobby.did)), (message) => {
      delete message.metadata;
    });
    const answer = await post(bare);
    expect(answer).toContain("hello");
    expect(answer).not.toContain(ann.did);
  });
});

test("an agent that takes SAGE only refuses what is signed and not sealed, and what bears no mark", async () => {
  const sent = await captured(desk.did);
  expect(await post(sent)).toContain("accepts only calls that are protected from end to end");
  const bare = withMessage(unsigned(await captured(desk.did)), (message) => {
    delete message.metadata;
  });
  expect(await post(bare)).toContain("accepts only calls that are");
});

test("a caller that used SAGE once is taken by nothing else", async () => {
  const caller = newAgent("ann")
    .withProtocol(ProtocolAuto)
    .withSAGE(optional(await world.sageOf(ann)))
    .build();
  world.closing(() => caller.close());
  expect((await caller.sendMessage(newMessage("hello", { recipientDid: lobby.did }))).text).toBe(`${ann.did}: hello`);
  expect(await new SeenPeers(world.store.records, Date.now).has(ann.did)).toBe(true);
});

describe("the layer for callers that were seen", () => {
  const DID = "did:sage:local:0x1234567890abcdef1234567890abcdef12345678";
  const reached: string[] = [];
  const handler: Handler = (operation) => {
    reached.push(operation.kind);
    return Promise.resolve({ kind: "message", message: envelope() });
  };
  const envelope = (more: Partial<Envelope> = {}): Envelope => ({
    ...{ id: "m", ts: 0, src: "", dst: "", intent: "", role: "user", content: [], context: {}, meta: {} },
    ...more,
  });
  const send = (more: Partial<Envelope>, delivery: "answer" | "stream"): OperationOf<"send"> => ({
    ...{ kind: "send", delivery, task: "auto" },
    envelope: envelope(more),
  });
  const callBy = (scheme: "did" | "anonymous", id: string, protocol: string): Call =>
    startCall({ caller: { id, scheme, scopes: [], owner: id }, via: { protocol, version: "1", binding: "JSONRPC" } });
  const outcome = async (operation: OperationOf<"send">, call: Call, seen: SeenPeers): Promise<string> => {
    const reply = requireSeenPeers(seen)(handler)(operation, call);
    try {
      if (operation.delivery === "stream") for await (const event of reply as AsyncIterable<{ kind: string }>) return event.kind;
      return ((await reply) as { kind: string }).kind;
    } catch (thrown) {
      return (thrown as Error).name;
    }
  };

  test.each(["answer", "stream"] as const)(
    "refuses their messages without SAGE (%s), and those that claim to be theirs",
    async (delivery) => {
      const seen = new SeenPeers(createMemoryStore({ now: Date.now }).records, Date.now);
      const plain = callBy("did", DID, "other");
      expect(await outcome(send({}, delivery), plain, seen)).toBe("message");
      expect(await outcome(send({}, delivery), callBy("did", DID, "sage"), seen)).toBe("message");
      expect(await outcome(send({}, delivery), plain, seen)).toBe("ErrDowngradeRefused");
      const nobody = callBy("anonymous", "anonymous", "other");
      expect(await outcome(send({}, delivery), nobody, seen)).toBe("message");
      expect(await outcome(send({ src: DID }, delivery), nobody, seen)).toBe("ErrDowngradeRefused");
      expect(await outcome(send({ meta: { claimedSrc: DID } }, delivery), nobody, seen)).toBe("ErrDowngradeRefused");
      expect(requireSeenPeers(seen)(handler)({ kind: "ping" }, plain)).toBeInstanceOf(Promise);
    },
  );
});
