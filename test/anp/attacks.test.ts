import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { agent, type ServeOptions, serve } from "../../src/index.js";
import { SIGNATURES } from "../../src/protocols/anp/authentication/signatures.js";
import { didWba } from "../../src/protocols/anp/identity/did-wba.js";
import { messageKeyOf } from "../../src/protocols/anp/identity/own-identity.js";
import { anp } from "../../src/protocols/anp/index.js";
import { createIdentity, createResolver, type Identity, type LocalIdentity } from "../../src/security/identity/index.js";
import { createReplayGuard } from "../../src/security/replay/index.js";
import { MessageSigner, type SignatureProfile } from "../../src/security/signatures/index.js";
import { DEFAULT_LIMITS } from "../../src/transport/limits.js";
import { makeRequest } from "../../src/transport/request.js";
import { RefusalLog } from "../helpers/refusal-log.js";
import { boundIdentity, DidDirectory, freePort, LOOPBACK } from "./directory.js";

/** Requests of an attacker, each refused with a named reason and counted. They are written by hand: nothing of the client is used. */

const closing: (() => Promise<unknown>)[] = [];
let directory: DidDirectory;
let ann: LocalIdentity;
let url: string;
let log: RefusalLog;
beforeAll(async () => {
  directory = await DidDirectory.open();
});
afterAll(() => directory.close());
beforeEach(async () => {
  log = new RefusalLog("anp");
  ann = await directory.create("ann");
  url = await served();
});
afterEach(async () => {
  log.expectMetered();
  for (const close of closing.splice(0).reverse()) await close();
});

const who = agent({ name: "who", description: "says who called", handle: (_message, task) => task.owner });

async function served(options: ServeOptions = {}): Promise<string> {
  const port = await freePort();
  const server = await serve(who, {
    protocols: [anp],
    port,
    identity: boundIdentity(port, "who"),
    settings: LOOPBACK,
    audit: log.audit,
    telemetry: log.telemetry,
    replay: createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now, knownSinceMs: 0 }),
    ...options,
  });
  closing.push(() => server.close());
  return `http://127.0.0.1:${port}/anp/rpc`;
}

const BODY = JSON.stringify({ jsonrpc: "2.0", id: "1", method: "ask", params: { text: "who" } });

interface Forged {
  readonly identity?: Identity;
  readonly profile?: SignatureProfile;
  /** Milliseconds that the clock of the caller is ahead. */
  readonly ahead?: number;
  /** What is signed, if it is not what is sent. */
  readonly signedUrl?: string;
  readonly signedBody?: string;
}

async function signedHeaders(
  to: string,
  { identity = ann, profile = SIGNATURES, ahead = 0, signedUrl = to, signedBody = BODY }: Forged = {},
) {
  const signer = new MessageSigner({ profile, key: messageKeyOf(identity), now: () => Date.now() + ahead });
  const request = makeRequest({ method: "POST", url: signedUrl, body: signedBody });
  return (await signer.request(request, request.body)) as Record<string, string>;
}

async function post(to: string, headers: Record<string, string>, body = BODY) {
  const before = log.all().length;
  const response = await fetch(to, { method: "POST", headers: { "content-type": "application/json", ...headers }, body });
  const answer = (await response.json()) as {
    result?: { text: string };
    error?: { data: { code: string; details?: { reason?: string } } };
  };
  const challenge = response.headers.get("www-authenticate") ?? "";
  return {
    status: response.status,
    text: answer.result?.text,
    error: /error="(\w+)"/.exec(challenge)?.[1],
    code: answer.error?.data.code,
    /** What the server counted meanwhile. */
    counted: log.all().slice(before),
  };
}

const refused = (error: string, code = "bad_signature") => ({
  status: 401,
  error,
  code,
  text: undefined,
  counted: [`${code} ${error}`],
});

describe("a signed request", () => {
  test("is answered as its DID, once", async () => {
    const headers = await signedHeaders(url);
    expect(await post(url, headers)).toMatchObject({ status: 200, text: `did:${ann.did}` });
    expect(await post(url, headers)).toMatchObject(refused("invalid_nonce", "replayed"));
  });

  test("is not accepted later, when nobody remembers it", async () => {
    let ahead = 0;
    const later = await served({ ids: { now: () => Date.now() + ahead, newId: () => crypto.randomUUID() } });
    const headers = await signedHeaders(later);
    expect(await post(later, headers)).toMatchObject({ status: 200 });
    ahead = 600_000;
    expect(await post(later, headers)).toMatchObject(refused("invalid_timestamp"));
  });

  test("is not accepted by another recipient", async () => {
    const other = await served();
    expect(await post(other, await signedHeaders(url))).toMatchObject(refused("invalid_signature"));
  });

  test("is not accepted by another replica over the same guard", async () => {
    const replay = createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now, knownSinceMs: 0 });
    const publicUrl = "http://localhost:1";
    const [one, two] = [await served({ replay, publicUrl }), await served({ replay, publicUrl })];
    const headers = await signedHeaders(`${publicUrl}/anp/rpc`);
    expect(await post(one, headers)).toMatchObject({ status: 200 });
    expect(await post(two, headers)).toMatchObject(refused("invalid_nonce", "replayed"));
  });

  test.each([
    [-30_000, 200],
    [30_000, 200],
    [-120_000, 200],
    [120_000, 401],
    [-300_000, 200],
    [300_000, 401],
    [-600_000, 401],
    [600_000, 401],
  ])("with a clock that is %d ms ahead gets %d", async (ahead, status) => {
    const got = await post(url, await signedHeaders(url, { ahead }));
    expect(got).toMatchObject(status === 200 ? { status } : refused("invalid_timestamp"));
  });

  test("by the key of another DID is refused", async () => {
    const mallory = await directory.create("mallory");
    const headers = await signedHeaders(url, { identity: mallory });
    const input = (headers["signature-input"] ?? "").replace(mallory.did, ann.did);
    expect(await post(url, { ...headers, "signature-input": input })).toMatchObject(refused("invalid_signature"));
  });

  test("without its signature is refused, not taken for an anonymous one", async () => {
    const { signature: _, ...rest } = await signedHeaders(url);
    expect(await post(url, rest)).toMatchObject(refused("invalid_request"));
  });

  test("with one byte of the body changed is refused", async () => {
    const got = await post(url, await signedHeaders(url), BODY.replace("who", "whu"));
    expect(got).toMatchObject(refused("invalid_content_digest"));
  });

  test("whose digest is not covered is refused, whatever the body", async () => {
    const profile = { ...SIGNATURES, request: { sign: ["@method", "@target-uri"] } };
    const headers = await signedHeaders(url, { profile });
    expect(await post(url, headers)).toMatchObject(refused("invalid_signature"));
  });

  test("that covers the method alone is refused", async () => {
    const profile = { ...SIGNATURES, request: { sign: ["@method"] } };
    expect(await post(url, await signedHeaders(url, { profile, signedUrl: "https://elsewhere.example/" }))).toMatchObject(
      refused("invalid_signature"),
    );
  });

  test("of a DID with the document of another one is refused", async () => {
    const bob = await directory.create("bob");
    const eve = boundIdentity(directory.port, "eve");
    directory.put(eve.did, JSON.stringify({ id: bob.did }));
    expect(await post(url, await signedHeaders(url, { identity: eve }))).toMatchObject(
      refused("invalid_did", "identity_unresolved"),
    );
  });

  test("of a DID whose document was replaced by one with another key is refused", async () => {
    const mark = await directory.create("mark");
    const thief = createIdentity({ name: "thief", did: mark.did });
    await directory.publish(thief);
    expect(await post(url, await signedHeaders(url, { identity: thief }))).toMatchObject(
      refused("invalid_did", "identity_unresolved"),
    );
  });

  test("of a DID that has a successor is refused", async () => {
    const old = await directory.create("old");
    const next = await directory.create("next");
    await directory.publish(old, next.did);
    expect(await post(url, await signedHeaders(url, { identity: old }))).toMatchObject(refused("invalid_verification_method"));
    expect(await post(url, await signedHeaders(url, { identity: next }))).toMatchObject({ status: 200 });
  });

  test("of a DID that points inside the network is refused, and nothing is fetched there", async () => {
    const open = await served({ names: ["agents.example"] });
    const asked = directory.asked.length;
    const spy = boundIdentity(directory.port, "spy");
    await directory.publish(spy);
    const got = await post(open, await signedHeaders(open, { identity: spy }));
    expect(got).toMatchObject(refused("invalid_did", "identity_unresolved"));
    expect(directory.asked.length).toBe(asked);
  });

  test("of DIDs that nobody knows makes few requests for each caller", async () => {
    const asked = directory.asked.length;
    const unknown = Array.from({ length: 40 }, (_, index) => boundIdentity(directory.port, `unknown-${index}`));
    const headers = await Promise.all(unknown.map((identity) => signedHeaders(url, { identity })));
    let answer = (): void => undefined;
    directory.ready = new Promise((resolve) => {
      answer = resolve;
    });
    const results: Awaited<ReturnType<typeof post>>[] = [];
    const all = headers.map(async (each) => results.push(await post(url, each)));
    // Eight wait for their documents, which is the limit for one caller.
    await expect.poll(() => results.length, { timeout: 20_000 }).toBe(32);
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set([503]));
    expect(log.all()).toEqual(Array(32).fill("unavailable unavailable"));
    answer();
    await Promise.all(all);
    expect(results.slice(32).map(({ error }) => error)).toEqual(Array(8).fill("invalid_did"));
    expect(directory.asked.length - asked).toBe(8);
    // The same DID again is refused without another request.
    const before = directory.asked.length;
    const known = unknown.find(({ did }) => directory.asked.at(-1)?.includes(did.split(":").at(-1) ?? "-")) as Identity;
    expect(await post(url, await signedHeaders(url, { identity: known }))).toMatchObject(
      refused("invalid_did", "identity_unresolved"),
    );
    expect(directory.asked.length).toBe(before);
  });
});

describe("a token", () => {
  test("of another process, or changed, is refused: the client signs again", async () => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...(await signedHeaders(url)) },
      body: BODY,
    });
    const token = /access_token="([^"]+)"/.exec(response.headers.get("authentication-info") ?? "")?.[1] ?? "";
    expect(response.headers.get("authorization")).toBe(`Bearer ${token}`);
    expect(await post(url, { authorization: `Bearer ${token}` })).toMatchObject({ status: 200, text: `did:${ann.did}` });
    expect(await post(await served(), { authorization: `Bearer ${token}` })).toMatchObject(
      refused("invalid_access_token", "unauthenticated"),
    );
    expect(await post(url, { authorization: `Bearer ${token.slice(0, -2)}xx` })).toMatchObject(
      refused("invalid_access_token", "unauthenticated"),
    );
  });
});

describe("a token of a key that is out of use", () => {
  test("is refused once the document says so", async () => {
    let ahead = 0;
    const resolver = createResolver({
      methods: [didWba({ loopbackHttp: true })],
      from: "loopback",
      now: () => Date.now() + ahead,
    });
    const at = await served({ resolver });
    const left = await directory.create("left");
    const response = await fetch(at, {
      method: "POST",
      headers: { "content-type": "application/json", ...(await signedHeaders(at, { identity: left })) },
      body: BODY,
    });
    const token = /access_token="([^"]+)"/.exec(response.headers.get("authentication-info") ?? "")?.[1] ?? "";
    expect(await post(at, { authorization: `Bearer ${token}` })).toMatchObject({ status: 200, text: `did:${left.did}` });
    await directory.publish(left, (await directory.create("right")).did);
    ahead = 24 * 3_600_000; // the cache of the resolver has ended
    expect(await post(at, { authorization: `Bearer ${token}` })).toMatchObject(
      refused("invalid_access_token", "unauthenticated"),
    );
  });
});

describe("right after a start", () => {
  test("a signature is answered with a challenge, and one that echoes it is accepted once", async () => {
    const fresh = await served({ replay: createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now }) });
    const first = await fetch(fresh, {
      method: "POST",
      headers: { "content-type": "application/json", ...(await signedHeaders(fresh)) },
      body: BODY,
    });
    const nonce = /nonce="([^"]+)"/.exec(first.headers.get("www-authenticate") ?? "")?.[1] ?? "";
    expect([first.status, nonce]).toEqual([401, expect.stringMatching(/^[\w.-]{20,}$/)]);
    const signer = new MessageSigner({ profile: SIGNATURES, key: messageKeyOf(ann), now: Date.now, nonce: () => nonce });
    const request = makeRequest({ method: "POST", url: fresh, body: BODY });
    const headers = (await signer.request(request, request.body)) as Record<string, string>;
    expect(await post(fresh, headers)).toMatchObject({ status: 200, text: `did:${ann.did}` });
    expect(await post(fresh, headers)).toMatchObject(refused("invalid_nonce", "replayed"));
  });
});
