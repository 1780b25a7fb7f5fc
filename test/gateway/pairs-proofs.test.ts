import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isPromise, newEnvelope, type Proof, SEALED_TYPE, systemIds } from "../../src/envelope/index.js";
import { AgentError, type AgentEvent, agent, type Envelope, type Part, type RemoteAgent } from "../../src/index.js";
import { type Protocol, startCall } from "../../src/public/protocols.js";
import { type AgentFunction, RelayedMessage } from "../../src/tasks/index.js";
import { openProtocols } from "../helpers/open-protocols.js";
import { securedToy } from "../secured-toy/index.js";
import { sessionToy } from "../session-toy/index.js";
import { toy } from "../toy/index.js";
import { type Bridges, openBridges } from "./pairs/bridges.js";
import { coveringPairs, interfacesOf, type PinnedInterface, pairsWith } from "./pairs/interfaces.js";

/** Signatures and ciphertext arrive byte for byte through a gateway, in both directions, or the message is refused. */

/** Every byte value: not UTF-8, not JSON. */
const ALL_BYTES = Uint8Array.from({ length: 256 }, (_, index) => index);
const REVERSED = ALL_BYTES.toReversed();
const PROOFS: readonly Proof[] = [
  { scheme: "toy", signer: "did:toy:ann", keyId: "did:toy:ann#1", signed: ALL_BYTES, signature: REVERSED },
  { scheme: "other", signer: "did:toy:bob", keyId: "did:toy:bob#2", signed: REVERSED, signature: ALL_BYTES },
];
const SEALED: Part = { kind: "raw", bytes: ALL_BYTES, mediaType: SEALED_TYPE };

function messageOf(more: Pick<Envelope, "content" | "proofs">, role: Envelope["role"] = "user"): Envelope {
  const made = newEnvelope({ src: "ann", dst: "worker", content: [], context: {} }, systemIds);
  return { ...made, id: `id-${randomUUID()}`, role, ...more };
}

/** Records messages and gives the prepared answer. It accepts text only: ciphertext is not for the host to judge. */
class Scripted {
  readonly received: Envelope[] = [];
  answer = messageOf({ content: [], proofs: undefined }, "agent");
  readonly handle: AgentFunction = (message) => {
    this.received.push(message);
    return Promise.resolve(new RelayedMessage(this.answer, undefined));
  };
  readonly agent = agent({
    name: "worker",
    description: "answers as scripted",
    inputModes: ["text/plain"],
    skills: [],
    handle: this.handle,
  });
}

async function send(peer: Pick<RemoteAgent, "handler">, envelope: Envelope): Promise<AgentEvent> {
  const reply = peer.handler({ kind: "send", envelope, delivery: "answer", task: "auto" }, startCall());
  if (!isPromise(reply)) throw new Error("expected a single event, got a stream");
  return reply;
}

/** The answer: a message, or the last one of a task. */
function messageIn(event: AgentEvent): Envelope {
  const message = event.kind === "message" ? event.message : event.kind === "task" ? event.task.status.message : undefined;
  if (message === undefined) throw new Error(`a ${event.kind} without a message answered`);
  return message;
}

/** What must not change of a message. */
const kept = ({ id, proofs, content }: Envelope) => ({
  id,
  proofs: proofs?.map((proof) => ({ ...proof, signed: hex(proof.signed), signature: hex(proof.signature) })),
  content: content.map((part) => (part.kind === "raw" ? { type: part.mediaType, hex: hex(part.bytes) } : part.kind)),
});
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

const CASES: readonly (Pick<Envelope, "content" | "proofs"> & { readonly what: string })[] = [
  { what: "signed", content: [{ kind: "text", text: "hello" }], proofs: PROOFS },
  { what: "sealed", content: [SEALED], proofs: undefined },
  { what: "signed and sealed", content: [SEALED, { kind: "text", text: "beside" }], proofs: PROOFS },
];

const scripted = new Scripted();
const carrying: readonly Protocol[] = [...openProtocols, securedToy];

describe.each(["adopt", "relay"] as const)("a gateway that is to %s", async (mode) => {
  let bridges: Bridges;
  beforeAll(async () => {
    bridges = await openBridges(scripted, { protocols: carrying, mode });
  });
  afterAll(() => bridges.close());

  describe.each(coveringPairs(await interfacesOf(carrying)))("$name", ({ listener, upstream }) => {
    test.each(CASES)("a message that is $what, and its answer, arrive as they were", async ({ what: _, ...of }) => {
      const caller = await (await bridges.gatewayTo(upstream)).caller(listener);
      const [asked, answer] = [messageOf(of), messageOf(of, "agent")];
      scripted.answer = answer;
      const event = await send(caller, asked);
      expect(kept(scripted.received.at(-1) ?? asked)).toEqual(kept(asked));
      expect(kept(messageIn(event))).toEqual(kept(answer));
    });
  });
});

const REFUSED = { code: "downgrade_refused" };

describe.each([toy, sessionToy])("a protocol without a place for them ($id)", async (plain) => {
  const registry: readonly Protocol[] = [...openProtocols, plain];
  let bridges: Bridges;
  beforeAll(async () => {
    bridges = await openBridges(scripted, { protocols: registry });
  });
  afterAll(() => bridges.close());
  const pairs = await pairsWith(plain, registry);
  const isPlain = ({ protocol }: PinnedInterface): boolean => protocol === plain;

  test.each(pairs.filter(({ upstream }) => isPlain(upstream)))("$name: the message is refused, not stripped", async (pair) => {
    const caller = await (await bridges.gatewayTo(pair.upstream)).caller(pair.listener);
    for (const { what: _, ...of } of CASES) {
      const before = scripted.received.length;
      const refused = await send(caller, messageOf(of)).then(codeIn, (thrown) => AgentError.from(thrown).code);
      // ACP has no word of its own for it.
      expect(["downgrade_refused", "invalid_message", "failed"]).toContain(refused);
      expect(scripted.received).toHaveLength(before);
    }
  });

  test("the client refuses before anything is sent", async () => {
    const own = pairs.find(({ listener, upstream }) => isPlain(listener) && isPlain(upstream));
    if (own === undefined) throw new Error("the protocol is in a pair with itself");
    const caller = await (await bridges.gatewayTo(own.upstream)).caller(own.listener);
    for (const { what: _, ...of } of CASES)
      await expect(send(caller, messageOf(of))).rejects.toMatchObject({ ...REFUSED, facts: { sent: "no" } });
  });

  test.each(pairs.filter(({ listener }) => isPlain(listener)))("$name: the answer is refused, not stripped", async (pair) => {
    const caller = await (await bridges.gatewayTo(pair.upstream)).caller(pair.listener);
    for (const { what: _, ...of } of CASES) {
      scripted.answer = messageOf(of, "agent");
      const plainMessage = messageOf({ content: [{ kind: "text", text: "hello" }], proofs: undefined });
      await expect(send(caller, plainMessage)).rejects.toMatchObject(REFUSED);
    }
  });
});

function codeIn(event: AgentEvent): string {
  return event.kind === "task" ? event.task.status.state : event.kind;
}
