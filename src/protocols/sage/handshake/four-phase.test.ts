import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Agents, fixedIdentity } from "../../../../test/sage/handshake-pair.js";
import type { JsonObject } from "../../../envelope/index.js";
import { sha256 } from "../../../security/hashes.js";
import type { SageSession } from "../session/index.js";
import { establish, Responder } from "./index.js";

/** A handshake and its session as another implementation computed them: `fixtures/make-vectors.py`. */

interface Vectors {
  readonly createdMs: number;
  readonly messages: readonly JsonObject[];
  readonly sessionId: string;
  readonly records: readonly (readonly ["c2s" | "s2c", number, string])[];
  readonly signatures: { readonly c2s: string; readonly s2c: string };
  readonly stream: { readonly id: string; readonly events: readonly [string, string] };
}

const vectors: Vectors = JSON.parse(readFileSync(new URL("fixtures/four-phase.json", import.meta.url), "utf8"));
const secret = (name: string): Uint8Array => sha256(`koine sage test: ${name}`);
const hex = (some: Uint8Array): string => Buffer.from(some).toString("hex");
const bytes = (some: string): Buffer => Buffer.from(some, "hex");
const NONE = new Uint8Array(0);

function identity(side: "init" | "resp", digit: string) {
  const did = `did:sage:local:0x${digit.repeat(40)}`;
  return fixedIdentity(
    did,
    { name: "key-2", secret: secret(`${side} signing`) },
    { name: "key-3", secret: secret(`${side} kem`) },
  );
}

/** Nonces in the order in which a side makes them. */
function fixed(side: "init" | "resp", nonces: readonly number[]) {
  const left = [...nonces];
  return (what: "nonce" | "share" | "hpke"): Uint8Array =>
    what === "nonce" ? secret(`nonce ${left.shift()}`).subarray(0, 16) : secret(`${side} ${what}`);
}

async function shaken(): Promise<{ ann: SageSession; bob: SageSession; messages: readonly JsonObject[] }> {
  const agents = new Agents(identity("init", "a"), identity("resp", "b"));
  agents.nowMs = vectors.createdMs;
  const kid = "33333333-3333-4333-8333-333333333330";
  const responder = new Responder({ ...agents.bob, newId: () => kid, fixed: fixed("resp", [2, 4]) });
  const side = { ...agents.ann, newId: () => "11111111-1111-4111-8111-111111111111", fixed: fixed("init", [1, 3]) };
  const messages: JsonObject[] = [];
  let bob: SageSession | undefined;
  const ann = await establish(side, { peerDid: agents.bob.identity.did, form: "four-phase" }, async (message) => {
    const { reply, session } = await responder.receive(message);
    bob = session;
    messages.push(message, reply);
    return reply;
  });
  if (bob === undefined) throw new Error("the responder has no session");
  return { ann, bob, messages };
}

test("the four messages are the same", async () => {
  const { ann, bob, messages } = await shaken();
  expect(messages).toEqual(vectors.messages);
  expect([ann.sessionId, bob.sessionId]).toEqual([vectors.sessionId, vectors.sessionId]);
});

test("the records, signatures and streams are the same", async () => {
  const { ann, bob } = await shaken();
  bob.confirm();
  const sides = { c2s: ann, s2c: bob };
  const expected = new Map(vectors.records.map(([direction, sequence, record]) => [`${direction} ${sequence}`, record]));
  let compared = 0;
  for (const direction of ["c2s", "s2c"] as const) {
    for (let sequence = 0; sequence < 1_000; sequence++) {
      const name = `${direction} ${sequence}`;
      const record = sides[direction].encrypt(Buffer.from(name), Buffer.from("{}"));
      if (!expected.has(name)) continue;
      expect(hex(record), name).toBe(expected.get(name));
      compared++;
    }
    expect(hex(sides[direction].sign(Buffer.from("signed")))).toBe(vectors.signatures[direction]);
  }
  expect(compared).toBe(10);
  const { id, events } = vectors.stream;
  const writer = bob.openStream(id);
  expect([hex(writer.write(Buffer.from("first"))), hex(writer.end(Buffer.from("last")))]).toEqual(events);
  const reader = ann.readStream(id);
  expect(
    events.map((event) => reader.read(bytes(event), NONE)).map(({ event, last }) => [Buffer.from(event).toString(), last]),
  ).toEqual([
    ["first", false],
    ["last", true],
  ]);
  reader.finish();
});
