import { createHash, createPrivateKey, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CancelSource } from "../../../envelope/index.js";
import type { Identity, PublicKey, Resolver } from "../../../security/identity/index.js";
import { createReplayGuard } from "../../../security/replay/index.js";
import type { SealedChannel } from "../../../security/sealed-records/index.js";
import type { Chunk, Session } from "../../../transport/exchange.js";
import { DEFAULT_LIMITS } from "../../../transport/limits.js";
import { joinBytes } from "./binary-parts.js";
import { type HandshakeMessages, type HandshakeSide, initiate, respond } from "./handshake.js";
import { IncompleteBytes } from "./incomplete-bytes.js";
import { SealedSession } from "./sealed-session.js";

/** A handshake and its records, byte by byte as another implementation computed them. */

interface Side {
  readonly did: string;
  readonly identityPrivate: string;
  readonly identityPublic: string;
  readonly ephemeralPrivate: string;
  readonly nonce: string;
  readonly at: number;
}

interface Sized {
  readonly bytes: number;
  readonly sha256: string;
}

interface Vectors {
  readonly client: Side;
  readonly server: Side;
  readonly authority: string;
  readonly path: string;
  readonly frames: { readonly [name: string]: string };
  readonly plain: { readonly request: string; readonly result: string };
  readonly binary: { readonly part: Sized; readonly message: Sized; readonly records: readonly Sized[] };
}

const vectors: Vectors = JSON.parse(readFileSync(new URL("fixtures/session.json", import.meta.url), "utf8"));
const bytes = (hex: string): Buffer => Buffer.from(hex, "hex");
const sized = (some: Uint8Array): Sized => ({ bytes: some.length, sha256: createHash("sha256").update(some).digest("hex") });
/** RFC 8410 §7, before the 32 bytes of an Ed25519 key. */
const PKCS8 = bytes("302e020100300506032b657004220420");

function identityOf({ did, identityPrivate, identityPublic }: Side): Identity {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, bytes(identityPrivate)]), format: "der", type: "pkcs8" });
  const own: PublicKey = { id: `${did}#key-1`, kind: "Ed25519", bytes: bytes(identityPublic), uses: ["authentication"] };
  return {
    name: "vector",
    did,
    keys: () => [own],
    sign: (_, some) => sign(null, some, key),
    agree: () => {
      throw new Error("no key for agreement");
    },
  };
}

const identities = [vectors.client, vectors.server].map(identityOf);
const resolver: Resolver = {
  async resolve(did) {
    const keys = identities.find((each) => each.did === did)?.keys() ?? [];
    const document = { id: did, keys, services: [], deactivated: false, successor: undefined, bytes: new Uint8Array() };
    return { document, observedAt: 0 };
  },
  forget: () => undefined,
};

function sideOf(side: Side): HandshakeSide {
  const now = (): number => side.at;
  return {
    context: { resolver, now, replay: createReplayGuard({ limits: DEFAULT_LIMITS, now, knownSinceMs: 0 }) },
    identity: identityOf(side),
    cancel: new CancelSource(),
    fixed: { ephemeral: bytes(side.ephemeralPrivate), nonce: bytes(side.nonce) },
  };
}

/** Frames in one direction. */
class Pipe {
  readonly frames: Chunk[] = [];
  readonly #waiting: ((frame: Chunk) => void)[] = [];
  #read = 0;

  send(frame: Chunk): void {
    this.frames.push(frame);
    const reader = this.#waiting.shift();
    if (reader === undefined) return;
    this.#read++;
    reader(frame);
  }

  async next(): Promise<Chunk> {
    const frame = this.frames[this.#read];
    if (frame === undefined) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#read++;
    return frame;
  }
}

async function shaken(): Promise<{ client: SealedChannel; server: SealedChannel; sent: Chunk[]; answered: Chunk[] }> {
  const [up, down] = [new Pipe(), new Pipe()];
  const messages = (out: Pipe, from: Pipe): HandshakeMessages => ({ send: (frame) => out.send(frame), next: () => from.next() });
  const { authority, path } = vectors;
  const [client, server] = await Promise.all([
    initiate(messages(up, down), sideOf(vectors.client), { did: vectors.server.did, authority, path }),
    respond(messages(down, up), sideOf(vectors.server), { authority, path, admit: async () => undefined }),
  ]);
  return { client, server, sent: up.frames, answered: down.frames };
}

/** A session whose messages are kept. */
function sealed(channel: SealedChannel, sent: Chunk[]): SealedSession {
  const outer = { closed: new Promise(() => undefined), send: (frame: Chunk) => void sent.push(frame) } as unknown as Session;
  const frames = (async function* (): AsyncGenerator<Chunk> {})();
  const incomplete = new IncompleteBytes(1);
  return new SealedSession({ outer, frames, channel, incomplete, onRefused: () => undefined }, () => 0);
}

describe("the vectors of the session", () => {
  test("are its handshake", async () => {
    const { sent, answered } = await shaken();
    const { clientHello, serverHello, finish, accepted } = vectors.frames;
    expect(sent.map((frame) => (typeof frame === "string" ? frame : Buffer.from(frame).toString("hex")))).toEqual([
      clientHello,
      finish,
    ]);
    expect(answered.map((frame) => (typeof frame === "string" ? frame : Buffer.from(frame).toString("hex")))).toEqual([
      serverHello,
      accepted,
    ]);
  });

  test("are its records, one for a text and several for a large message", async () => {
    const { client, server } = await shaken();
    const [sent, answered]: [Uint8Array[], Uint8Array[]] = [[], []];
    const caller = sealed(client, sent);
    caller.send(vectors.plain.request);
    sealed(server, answered).send(vectors.plain.result);
    expect(sent.map((each) => Buffer.from(each).toString("hex"))).toEqual([vectors.frames["request"]]);
    expect(answered.map((each) => Buffer.from(each).toString("hex"))).toEqual([vectors.frames["result"]]);
    const seed = createHash("sha256").update("koine anp session test: part").digest();
    const part = Buffer.alloc(vectors.binary.part.bytes, seed);
    expect(sized(part)).toEqual(vectors.binary.part);
    const said = { jsonrpc: "2.0", method: "koine.say", params: { message: { parts: [{ raw: "" }] } } };
    const message = joinBytes(JSON.stringify(said), new Map([[0, part]]));
    expect(sized(Buffer.from(message))).toEqual(vectors.binary.message);
    caller.send(message);
    expect(sent.slice(1).map(sized)).toEqual(vectors.binary.records);
  });
});
