import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { rewriting } from "../../src/client/peer-link.js";
import { openSqliteStore, type RemoteAgent } from "../../src/index.js";
import { SUBPROTOCOL } from "../../src/protocols/anp/session/profile.js";
import type { Identity, LocalIdentity } from "../../src/security/identity/index.js";
import type { Chunk } from "../../src/transport/exchange.js";
import { RefusalLog } from "../helpers/refusal-log.js";
import { pass, type Tamper, tamperingLink } from "../secured-toy/tampering-link.js";
import { RawSession } from "../session-toy/raw-session.js";
import { called, closeAll, closeLater, directory, host, reasonOf, served } from "./peers.js";

/** Attacks on the sealed session. Each is refused with a reason, and is in the audit log of the server. */

let log: RefusalLog;
beforeEach(() => {
  log = new RefusalLog("anp");
});
afterEach(async () => {
  await closeAll();
  log.expectMetered();
});

const refusals = (): readonly string[] => log.all();
const guarded = (options: Parameters<typeof served>[0] = {}): Promise<string> =>
  served({ audit: log.audit, telemetry: log.telemetry, ...options });
const socketOf = (url: string): string => `${url.replace(/^http/, "ws")}/anp/rpc`;

async function opened(url: string): Promise<RawSession> {
  const session = await RawSession.open(socketOf(url), { subprotocols: [SUBPROTOCOL] });
  closeLater(async () => session.destroy());
  return session;
}

/** Why the server refuses a first message. */
async function refusalOf(url: string, hello: string): Promise<string> {
  const session = await opened(url);
  session.send(hello);
  const { error } = (await session.next()) as { error?: { data: { code: string; details: { reason: string } } } };
  const { code } = await session.closed;
  return `${code} ${error?.data.code} ${error?.data.details.reason}`;
}

async function captured(url: string, name = "captured"): Promise<Chunk[]> {
  const sent: Chunk[] = [];
  const peer = await called(url, directory.create(name), { link: tamperingLink<Chunk>(pass, sent) });
  expect(await peer.ask("who")).toBe(`did:did:memo:${name}`);
  return sent;
}

const textOf = (frame: Chunk | undefined): string => (typeof frame === "string" ? frame : "");

describe("a hello that is repeated", () => {
  test("soon is refused as replayed", async () => {
    const url = await guarded();
    const [hello] = await captured(url);
    expect(await refusalOf(url, textOf(hello))).toBe("1008 replayed replayed");
    expect(refusals()).toEqual(["replayed replayed"]);
  });

  test("later is not of now", async () => {
    let ahead = 0;
    const ids = { now: () => Date.now() + ahead, newId: () => crypto.randomUUID() };
    const url = await guarded({ ids });
    const [hello] = await captured(url);
    ahead = 600_000;
    expect(await refusalOf(url, textOf(hello))).toBe("1008 unauthenticated not_of_now");
    expect(refusals()).toEqual(["unauthenticated not_of_now"]);
  });

  test("to another recipient is refused: another DID, or the same at another address", async () => {
    const [hello] = await captured(await served());
    expect(await refusalOf(await guarded({ identity: directory.create("other") }), textOf(hello))).toBe(
      "1008 unauthenticated wrong_recipient",
    );
    expect(await refusalOf(await guarded(), textOf(hello))).toBe("1008 unauthenticated wrong_recipient");
    expect(refusals()).toEqual(["unauthenticated wrong_recipient", "unauthenticated wrong_recipient"]);
  });

  test("to another replica, with everything that followed it, opens nothing", async () => {
    const folder = await mkdtemp(join(tmpdir(), "koine-anp-session-"));
    closeLater(() => rm(folder, { recursive: true }));
    const file = join(folder, "tasks.sqlite");
    const publicUrl = "http://127.0.0.1:9";
    const one = await served({ store: await openSqliteStore({ file, now: Date.now }), publicUrl });
    const two = await guarded({ store: await openSqliteStore({ file, now: Date.now }), publicUrl });
    const sent: Chunk[] = [];
    const link = tamperingLink<Chunk>(pass, sent);
    const dialled = (target: string): string => target.replace(new URL(publicUrl).host, new URL(one).host);
    const peer = await called(one, directory.create("replicated"), { link: rewriting(link, dialled) });
    await peer.ask("who");
    const session = await opened(two);
    session.send(textOf(sent[0]));
    expect(await session.next()).toHaveProperty("hello");
    for (const frame of sent.slice(1)) session.send(frame as Uint8Array);
    expect(await session.closed).toMatchObject({ code: 1008, reason: "bad_finish" });
    expect(refusals()).toEqual(["unauthenticated bad_finish"]);
  });
});

describe("a clock that differs by", () => {
  const at = (ahead: number) => ({ ids: { now: () => Date.now() + ahead, newId: () => crypto.randomUUID() } });

  test.each([30_000, -30_000])("%i ms is accepted", async (ahead) => {
    const peer = await called(await guarded(), directory.create("near"), at(ahead));
    expect(await peer.ask("who")).toBe("did:did:memo:near");
  });

  test.each([120_000, -120_000, 300_000, -300_000, 600_000, -600_000])("%i ms is refused", async (ahead) => {
    const peer = await called(await guarded(), directory.create("far"), at(ahead));
    expect(await reasonOf(peer.ask("who"))).toBe("handshake_failed refused_by_peer");
    expect(refusals()).toEqual(["unauthenticated not_of_now"]);
  });
});

describe("somebody on the way who", () => {
  const swap = (frame: Chunk, name: string, by: string): Chunk =>
    typeof frame === "string" ? frame.replace(new RegExp(`(\\\\?"${name}\\\\?":\\\\?")[^"\\\\]*`), `$1${by}`) : frame;
  const KEY = Buffer.alloc(32, 9).toString("base64url");
  const first =
    (change: (frame: Chunk) => Chunk): Tamper<Chunk> =>
    (frame, index, send) =>
      send(index === 0 ? change(frame) : frame);

  async function through(tamper: Tamper<Chunk>, answers: Tamper<Chunk> = pass): Promise<string> {
    const peer = await called(await guarded(), directory.create("middle"), { link: tamperingLink<Chunk>(tamper, [], answers) });
    return reasonOf(peer.ask("hello"));
  }

  test("swaps the ephemeral key of the client is found out by its signature", async () => {
    expect(await through(first((frame) => swap(frame, "ephemeral", KEY)))).toBe("handshake_failed bad_signature");
  });

  test("swaps the ephemeral key of the server is found out by its signature", async () => {
    expect(
      await through(
        pass,
        first((frame) => swap(frame, "ephemeral", KEY)),
      ),
    ).toBe("handshake_failed bad_signature");
  });

  test("swaps the DID of the client", async () => {
    directory.create("victim");
    const claim = (frame: Chunk): Chunk => swap(swap(frame, "did", "did:memo:victim"), "keyId", "did:memo:victim#key-1");
    expect(await through(first(claim))).toBe("handshake_failed bad_signature");
  });

  test("strips the signature of the server", async () => {
    expect(
      await through(
        pass,
        first((frame) => swap(frame, "signature", "")),
      ),
    ).toBe("handshake_failed malformed");
  });

  test("offers another profile for the client is refused by the server", async () => {
    const older = first((frame) => String(frame).replace(/"profiles":\[[^\]]*\]/, '"profiles":["als10-P256-AES128GCM"]'));
    expect(await through(older)).toBe("handshake_failed refused_by_peer");
    expect(refusals()).toEqual(["downgrade_refused unsupported_profile"]);
  });

  test("chooses another profile for the server is refused by the client", async () => {
    const older = first((frame) => swap(frame, "profile", "als10-P256-AES128GCM"));
    expect(await through(pass, older)).toBe("handshake_failed unsupported_profile");
  });

  test("adds a profile to the offer is found out by the signature", async () => {
    const more = first((frame) => String(frame).replace('"profiles":[', '"profiles":["als10-P256-AES128GCM",'));
    expect(await through(more)).toBe("handshake_failed bad_signature");
  });

  test("refuses for the server cannot make the client call in clear", async () => {
    const requests: string[] = [];
    const link = tamperingLink<Chunk>(
      pass,
      [],
      first(() => '{"error":{"code":1005,"message":"use HTTP"}}'),
    );
    const counting = {
      ...link,
      exchange: (request: Parameters<typeof link.exchange>[0]) => {
        requests.push(`${request.method} ${request.path}`);
        return link.exchange(request);
      },
    };
    const peer = await called(await guarded(), directory.create("lured"), { link: counting });
    expect(await reasonOf(peer.ask("a secret"))).toBe("handshake_failed refused_by_peer");
    expect(requests.filter((each) => each.startsWith("POST /anp"))).toEqual([]);
  });
});

describe("a server that has lost its session", () => {
  test("gets nothing by plain HTTP from a caller that named its DID", async () => {
    const plain = await served({ identity: undefined as never });
    const peer = await called(plain, directory.create("strict"), { pin: "anp@1.2/JSONRPC", require: ["identity", "encrypted"] });
    expect(await reasonOf(peer.ask("a secret"))).toMatch(/^downgrade_refused/);
  });
});

describe("an identity", () => {
  test("without a valid signature is refused", async () => {
    const own = directory.create("unsigned");
    const forging: Identity = { ...facade(own), sign: () => new Uint8Array(64) };
    const peer = await called(await guarded(), forging as LocalIdentity);
    expect(await reasonOf(peer.ask("who"))).toBe("handshake_failed refused_by_peer");
    expect(refusals()).toEqual(["unauthenticated bad_signature"]);
  });

  test("whose document has another key is refused, on either side", async () => {
    const liar: Identity = { ...facade(directory.create("liar")), did: host.did, keys: () => host.keys() };
    const peer = await called(await guarded({ identity: liar }), directory.create("deceived"));
    expect(await reasonOf(peer.ask("who"))).toBe("handshake_failed bad_signature");
    const client = await called(await guarded(), liar as LocalIdentity);
    expect(await reasonOf(client.ask("who"))).toBe("handshake_failed refused_by_peer");
    expect(refusals().at(-1)).toBe("unauthenticated bad_signature");
  });

  test("whose document was swapped after a rotation is refused with the old key", async () => {
    const url = await guarded();
    const old = directory.create("rotating");
    directory.publish(old.rotated({ overlapMs: 0 }));
    expect(await reasonOf((await called(url, old)).ask("who"))).toBe("handshake_failed refused_by_peer");
    expect(refusals()).toEqual(["unauthenticated unknown_key"]);
  });

  test("that was deactivated is refused", async () => {
    const url = await guarded();
    const gone = directory.create("gone");
    directory.publish(gone, true);
    expect(await reasonOf((await called(url, gone)).ask("who"))).toBe("handshake_failed refused_by_peer");
    expect(refusals()).toEqual(["unauthenticated unknown_key"]);
  });

  test("that nobody can resolve fails as a connection", async () => {
    const peer = await called(await served({ identity: directory.createUnpublished("ghost") }), directory.create("asks"));
    await expect(peer.ask("who")).rejects.toMatchObject({ code: "identity_unresolved", face: "E_CONN" });
  });
});

function facade(own: LocalIdentity): Identity {
  return {
    name: own.name,
    did: own.did,
    keys: () => own.keys(),
    sign: (keyId, bytes) => own.sign(keyId.replace(host.did, own.did), bytes),
    agree: (keyId, peer) => own.agree(keyId, peer),
  };
}

describe("a record that is", () => {
  /** From the first call on: hello and finish are left alone. */
  const HANDSHAKE = 2;
  const flip = (frame: Chunk): Chunk => {
    const bytes = Buffer.from(frame as Uint8Array);
    bytes[bytes.length - 20] = (bytes[bytes.length - 20] ?? 0) ^ 1;
    return bytes;
  };
  let held: Chunk | undefined;
  const RECORDS: readonly (readonly [string, string, Tamper<Chunk>])[] = [
    ["with a flipped bit", "wrong", (frame, index, send) => send(index < HANDSHAKE ? frame : flip(frame))],
    ["cut short", "wrong", (frame, index, send) => send(index < HANDSHAKE ? frame : (frame as Uint8Array).subarray(0, -8))],
    [
      "cut to its head",
      "truncated",
      (frame, index, send) => send(index < HANDSHAKE ? frame : (frame as Uint8Array).subarray(0, 20)),
    ],
    ["sent in clear", "malformed", (frame, index, send) => send(index < HANDSHAKE ? frame : '{"jsonrpc":"2.0"}')],
    [
      "repeated",
      "replayed",
      (frame, index, send) => {
        send(frame);
        if (index >= HANDSHAKE) send(frame);
      },
    ],
    [
      "sent out of order",
      "reordered",
      (frame, index, send) => {
        if (index === HANDSHAKE) held = frame;
        else send(frame);
        if (index === HANDSHAKE + 1 && held !== undefined) send(held);
      },
    ],
    ["left out", "reordered", (frame, index, send) => (index === HANDSHAKE ? undefined : send(frame))],
  ];

  test.each(RECORDS)("%s ends the session as %s, and nothing of it is believed", async (_, problem, tamper) => {
    const peer = await called(await guarded(), directory.create("sender"), { link: tamperingLink<Chunk>(tamper) });
    const asked = [peer.ask("one"), peer.ask("two")].map((each) => each.then((text) => `answered ${text}`, codeOf));
    for (const outcome of await Promise.all(asked)) expect(["interrupted", "answered you said: one"]).toContain(outcome);
    expect(refusals()).toEqual([`bad_signature ${problem}`]);
  });

  test("altered on its way to the client is not believed either", async () => {
    const answers: Tamper<Chunk> = (frame, index, send) => send(index < HANDSHAKE ? frame : flip(frame));
    const peer = await called(await guarded(), directory.create("reader"), { link: tamperingLink<Chunk>(pass, [], answers) });
    expect(await peer.ask("one").catch(codeOf)).toBe("interrupted");
  });
});

const codeOf = (thrown: unknown): string => (thrown as { code: string }).code;

describe("what is too large or too much", () => {
  test("a frame above the limit of a session closes it", async () => {
    const session = await opened(await guarded());
    session.send(new Uint8Array(1024 * 1024 + 1));
    expect(await session.closed).toMatchObject({ code: 1009 });
  });

  test("a hello above its limit is not parsed", async () => {
    const long = JSON.stringify({ type: "clientHello", version: "1", padding: "x".repeat(8 * 1024) });
    expect(await refusalOf(await guarded(), long)).toBe("1008 unauthenticated malformed");
    expect(refusals()).toEqual(["unauthenticated malformed"]);
    expect(log.reasons().at(-1)).toContain("a message of a handshake has at most 8192 bytes");
  });

  test("a flood of hellos is refused before any of them is read, and no DID is resolved for it", async () => {
    let resolved = 0;
    const resolver = directory.resolver();
    const counting = {
      resolve: (...given: Parameters<typeof resolver.resolve>) => {
        resolved++;
        return resolver.resolve(...given);
      },
      forget: () => undefined,
    };
    const url = await guarded({ resolver: counting });
    const outcomes = new Map<string, number>();
    for (let each = 0; each < 65; each++) {
      const outcome = await refusalOf(url, "{}");
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    expect([...outcomes]).toEqual([
      ["1008 unauthenticated malformed", 60],
      ["1013 overloaded too_many_hellos", 5],
    ]);
    expect(resolved).toBe(0);
    expect(refusals().filter((each) => each === "overloaded too_many_hellos")).toHaveLength(5);
  });

  test("sessions above the share of a caller are refused", async () => {
    const url = await guarded({ limits: { sessionsPerCaller: 1 } });
    const greedy = directory.create("greedy");
    const [one, two]: RemoteAgent[] = [await called(url, greedy), await called(url, greedy)];
    expect(await one?.ask("who")).toBe("did:did:memo:greedy");
    expect(await reasonOf((two as RemoteAgent).ask("who"))).toBe("overloaded undefined");
    expect(refusals().at(-1)).toMatch(/^overloaded/);
  });
});

test("a plain WebSocket client gets no session without the subprotocol", async () => {
  const refused = await RawSession.refused(socketOf(await guarded()), { subprotocols: [] });
  expect(refused.status).toBe(400);
});
