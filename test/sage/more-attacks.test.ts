import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { AgentError, type Json, recordsBelow } from "../../src/envelope/index.js";
import { retry, systemClock } from "../../src/policies/index.js";
import { EvmRegistry } from "../../src/protocols/sage/chain/evm-registry.js";
import { accountOf, recoverAddress } from "../../src/protocols/sage/identity/account.js";
import { DidCache, didSage } from "../../src/protocols/sage/identity/did-cache.js";
import type { DevChain } from "../../src/protocols/sage/node/dev-chain.js";
import { EmbeddedRegistry } from "../../src/protocols/sage/registry/embedded.js";
import type { RegistryReader } from "../../src/protocols/sage/registry/registry.js";
import { SIGNATURES } from "../../src/protocols/sage/signatures/profile.js";
import { createResolver, type LocalIdentity } from "../../src/security/identity/index.js";
import { MessageSigner, type SignatureProfile } from "../../src/security/signatures/index.js";
import { createMemoryStore } from "../../src/tasks/index.js";
import type { HttpRequest, Link } from "../../src/transport/exchange.js";
import { poolLink } from "../../src/transport/node/index.js";
import { signRequest } from "../../src/transport/sign.js";
import { type Alteration, AlteredNode, passed } from "./altered-node.js";
import { capturedSend, type Sent } from "./captured.js";
import { chainRegistry, register, startDevChain, type TestRegistry } from "./registries.js";
import { SageWorld, UNSEALED } from "./world.js";

/** Attacks on registries, account signatures, contradictions and retries. Each is refused with a named reason, and counted. */

let world: SageWorld;
let ann: LocalIdentity;
beforeEach(async () => {
  world = new SageWorld();
  ann = await world.register();
});
afterEach(async () => {
  world.log.expectMetered();
  await world.close();
});

async function post({ url, headers, body }: Sent) {
  const before = world.log.all().length;
  const answer = (await (await fetch(url, { method: "POST", headers, body })).json()) as {
    result?: unknown;
    error?: { data?: { metadata?: { error?: string } }[] };
  };
  const error = answer.error?.data?.[0]?.metadata?.error;
  return { answered: answer.result !== undefined, error, refusals: world.log.all().slice(before) };
}

const refused = (error: string, refusal: string) => ({ answered: false, error, refusals: [refusal] });
const ACCEPTED = { answered: true, error: undefined, refusals: [] };

/** A server that finds callers in this registry, and keeps nothing. */
function serveBy(registry: RegistryReader) {
  const cache = new DidCache({ registries: [registry], limits: { ttlMs: 0, failureMs: 0 } });
  return world.serve(undefined, { resolver: createResolver({ methods: [didSage(cache)] }) });
}

/** The log of the world's registry in another store, where somebody changed or added records. */
async function tamperedRegistry(change: (log: Record<string, Json | undefined>[]) => void): Promise<EmbeddedRegistry> {
  const kept = await recordsBelow(world.store.records, "sage").list("log/local/", 100);
  const log = kept.map(({ value }): Record<string, Json | undefined> => ({ ...value }));
  change(log);
  const { records } = createMemoryStore({ now: Date.now });
  for (const [index, entry] of log.entries()) await records.add(`log/local/${String(index + 1).padStart(9, "0")}`, entry);
  return new EmbeddedRegistry(records, { network: "local", now: Date.now });
}

/** The order of secp256k1. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** The other signature that is valid for the same message: the larger s. */
function twin(signature: Uint8Array): Uint8Array {
  const s = BigInt(`0x${Buffer.from(signature.subarray(32)).toString("hex")}`);
  return Buffer.concat([signature.subarray(0, 32), Buffer.from((ORDER - s).toString(16).padStart(64, "0"), "hex")]);
}

// Attack 17.
test("a DID that somebody else registered is refused: the owner of a record is the account in the DID", async () => {
  const { identity: server } = await world.serve();
  const sent = await capturedSend(world, server.did, ann);
  const { account: victim } = (await recordsBelow(world.store.records, "sage").list("log/local/", 1))[0]?.value ?? {};
  expect(ann.did).toContain(victim);
  const squatter = await accountOf(await world.register());
  // The record of the account in the name of another: its signature and its key are not those of the account.
  const squatted = await tamperedRegistry((log) => {
    for (const entry of log) if (entry["account"] === squatter.address) entry["account"] = victim ?? "";
  });
  const { identity: other } = await serveBy(squatted);
  const toOther = await capturedSend(world, other.did, ann);
  expect(await post(toOther)).toEqual(refused("ErrDIDNotResolved", "identity_unresolved record.invalid"));
  expect(await post(sent)).toEqual(ACCEPTED);
});

// Attack 19.
describe("headers that contradict the body", () => {
  test("are refused: a session of the header does not make a message sealed", async () => {
    const { identity: server } = await world.serve();
    const peer = await world.connect(server.did, ann);
    await peer.ask("a");
    const { headers } = await capturedSend(world, server.did, ann, { sealed: true });
    const clear = await capturedSend(world, server.did, await world.register());
    const named = { ...clear, headers: { ...clear.headers, "x-sage-session": headers["x-sage-session"] ?? "" } };
    // The session is of somebody else.
    expect(await post(named)).toEqual(refused("ErrSessionExpired", "session_expired session.unknown"));
  });

  test("are refused: the body names another signer than the header, and overrides nothing", async () => {
    const { identity: server } = await world.serve();
    const mallory = await world.register();
    const sent = await capturedSend(world, server.did, ann);
    // The member security of the body in the name of another, in a request that Ann herself signs.
    const body = sent.body.replace(`"did":"${ann.did}"`, `"did":"${mallory.did}"`);
    expect(body).not.toBe(sent.body);
    expect(await post(await resigned({ ...sent, body }, ann))).toEqual(
      refused("ErrInvalidSignature", "bad_signature sig.binding"),
    );
    // Mallory brings Ann's message under her own name.
    const brought = { ...sent, headers: { ...sent.headers, "x-agent-did": mallory.did } };
    expect(await post(await resigned(brought, mallory))).toEqual(refused("ErrInvalidSignature", "bad_signature sig.binding"));
    expect(await post(sent)).toEqual(ACCEPTED);
  });
});

/** The request signed anew by an identity. `sign` makes another signature of that by its account. */
async function resigned(sent: Sent, identity: LocalIdentity, alter?: (signature: Uint8Array) => Uint8Array): Promise<Sent> {
  const { "signature-input": _input, signature: _signature, "content-digest": _digest, ...headers } = sent.headers;
  const kind = alter === undefined ? "Ed25519" : "secp256k1";
  const keyId = identity.keys().find((key) => key.kind === kind)?.id ?? "";
  const algorithm = alter === undefined ? "ed25519" : "es256k";
  const profile: SignatureProfile = { ...SIGNATURES, algorithms: [algorithm] };
  const sign = async (base: Uint8Array) => alter?.(await identity.sign(keyId, base)) ?? identity.sign(keyId, base);
  const signer = new MessageSigner({ profile, key: { keyId, algorithm, sign }, now: Date.now });
  const fields = await signer.request({ method: "POST", target: sent.url, headers }, Buffer.from(sent.body));
  return { ...sent, headers: { ...headers, ...(fields as Record<string, string>) } };
}

// Attack 20.
describe("signatures of the account", () => {
  test("sign no requests, with either s", async () => {
    const { identity: server } = await world.serve();
    const sent = await capturedSend(world, server.did, ann);
    for (const alter of [(signature: Uint8Array) => signature, twin])
      expect(await post(await resigned(sent, ann, alter))).toEqual(
        refused("ErrInvalidSignature", "bad_signature key.not-in-record"),
      );
  });

  test("of a record are refused with the larger s, though they are mathematically valid", async () => {
    const same = await serveBy(await tamperedRegistry(() => undefined));
    const untouched = await capturedSend(world, same.identity.did, ann);
    // The server itself is not in the copied log; its callers are.
    expect(await post(untouched)).toEqual(ACCEPTED);
    const altered = await tamperedRegistry((log) => {
      const [first] = log;
      const signature = Buffer.from(String(first?.["signature"]).slice(2), "hex");
      if (first !== undefined) first["signature"] = `0x${Buffer.from(twin(signature)).toString("hex")}`;
    });
    const { identity: other } = await serveBy(altered);
    const sent = await capturedSend(world, other.did, ann);
    expect(await post(sent)).toEqual(refused("ErrDIDNotResolved", "identity_unresolved record.invalid"));
  });

  test("recover no account with the larger s, and another one with another recovery bit", async () => {
    const { address, signKeccak } = await accountOf(ann);
    const bytes = Buffer.from("an operation");
    const { r, s, yParity } = await signKeccak(bytes);
    const signature = Buffer.concat([r, s]);
    expect(await recoverAddress(bytes, signature, yParity)).toBe(address);
    expect(await recoverAddress(bytes, signature, 1 - yParity)).not.toBe(address);
    expect(await recoverAddress(bytes, twin(signature), 1 - yParity)).toBeUndefined();
    for (const v of [2, 27, 28]) expect(await recoverAddress(bytes, signature, v)).toBeUndefined();
  });
});

// Attack 23.
test("calls that fail are repeated under the same protection: nothing leaves without a signature", async () => {
  const { identity: server, url } = await world.serve();
  const pool = poolLink();
  const seen: HttpRequest[] = [];
  let failing = true;
  const link: Link = {
    async exchange(request) {
      const final = await signRequest(request);
      if (final.method === "POST") seen.push(final);
      if (failing && final.method === "POST") throw new AgentError("unavailable", "connection refused", { sent: "no" });
      return pool.exchange(request);
    },
    close: () => pool.close(),
  };
  // Discovery works, and then every signed request is lost, as often as it is tried.
  failing = false;
  const layers = [
    retry({ destination: "desk", clock: systemClock, random: () => 0, tries: 4, firstWaitMs: 1, longestWaitMs: 1 }),
  ];
  const peer = await world.connect(server.did, ann, { link, layers, settings: UNSEALED });
  expect(await peer.ask("first")).toBe(`did:${ann.did}: first`);
  failing = true;
  seen.length = 0;
  await expect(peer.ask("again")).rejects.toMatchObject({ code: "unavailable" });
  failing = false;
  expect(seen).toHaveLength(4);
  for (const { headers, target } of seen) {
    expect(target.startsWith(url)).toBe(true);
    expect(headers["signature-input"]).toContain('tag="koine-sage-1"');
    expect(headers["x-agent-did"]).toBe(ann.did);
  }
  // Somebody who strips what is left of them gains nothing.
  const sent = await capturedSend(world, server.did, ann);
  const { "x-agent-did": _did, signature: _signature, "signature-input": _input, ...plain } = sent.headers;
  const log = world.log.all().length;
  const answer = await fetch(sent.url, { method: "POST", headers: plain, body: sent.body });
  // The message itself is signed for this server, and so it is verified: by whom it is, not who brought it.
  expect(await answer.text()).toContain(`did:${ann.did}: hello`);
  expect(world.log.all().length).toBe(log);
});

describe("a chain node that is slow", () => {
  let chain: DevChain;
  let real: TestRegistry;
  let node: AlteredNode;
  beforeAll(async () => {
    chain = await startDevChain(0);
    real = await chainRegistry(chain);
    node = await AlteredNode.start(chain.rpc);
  });
  afterAll(async () => {
    await node?.close();
    await real?.close();
    await chain?.stop();
  });

  const silent: Alteration = () => undefined;
  const dripping: Alteration = (_, response) => {
    const timer = setInterval(() => response.write(" "), 20);
    response.once("close", () => clearInterval(timer));
  };

  test.each([
    ["does not answer", silent],
    ["answers byte by byte", dripping],
  ])("and %s: the caller is refused, never admitted unproved, and accepted when it is back", async (_, alter) => {
    await register(real, ann);
    const [, , registry = ""] = real.registry.id.split(":");
    const evm = new EvmRegistry({ network: "local", rpc: node.rpc, registry, timeoutMs: 1_000 });
    const { identity: server } = await serveBy(evm);
    const [first, second] = [await capturedSend(world, server.did, ann), await capturedSend(world, server.did, ann)];
    node.alter = alter;
    expect(await post(first)).toEqual(refused("ErrDIDNotResolved", "identity_unresolved record.unreachable"));
    node.alter = passed;
    expect(await post(second)).toEqual(ACCEPTED);
    await evm.close();
  });
});
