import { afterAll, beforeAll, expect, test } from "vitest";
import { EvmRegistry } from "../../src/protocols/sage/chain/evm-registry.js";
import { DidCache } from "../../src/protocols/sage/identity/did-cache.js";
import type { DevChain } from "../../src/protocols/sage/node/dev-chain.js";
import type { LocalIdentity } from "../../src/security/identity/index.js";
import { type Alteration, AlteredNode, passed, replaced } from "./altered-node.js";
import { chainRegistry, newAgent, register, startDevChain, type TestRegistry } from "./registries.js";

/** A chain node that answers nonsense, slowly, or for another chain: no DID is resolved, with a name, and nothing hangs. */

let chain: DevChain;
let node: AlteredNode;
let real: TestRegistry;
let agent: LocalIdentity;
beforeAll(async () => {
  chain = await startDevChain(0);
  real = await chainRegistry(chain);
  agent = await newAgent();
  await register(real, agent);
  node = await AlteredNode.start(chain.rpc);
});
afterAll(async () => {
  await node?.close();
  await real?.close();
  await chain?.stop();
});

function registryBehind(timeoutMs: number): EvmRegistry {
  const [, , registry = ""] = real.registry.id.split(":");
  return new EvmRegistry({ network: "local", rpc: node.rpc, registry, timeoutMs });
}

async function outcome(cache: DidCache): Promise<unknown> {
  return cache.resolvePublicKey(agent.did).then(
    ({ kind }) => kind,
    (thrown: { name: string; reason: string }) => [thrown.name, thrown.reason],
  );
}

/** What is resolved with a node that was right until its first answers were read, and then alters them. */
async function resolvedWith(
  alter: Alteration,
  timeoutMs = 10_000,
): Promise<{ readonly first: unknown; readonly later: unknown }> {
  const limits = { ttlMs: 0, failureMs: 0 };
  node.alter = alter;
  const fresh = registryBehind(timeoutMs);
  const first = await outcome(new DidCache({ registries: [fresh], limits }));
  await fresh.close();
  node.alter = passed;
  const used = registryBehind(timeoutMs);
  const cache = new DidCache({ registries: [used], limits });
  expect(await outcome(cache)).toBe("Ed25519");
  node.alter = alter;
  const later = await outcome(cache);
  await used.close();
  return { first, later };
}

const UNREACHABLE = ["ErrDIDNotResolved", "record.unreachable"];
const INVALID = ["ErrDIDNotResolved", "record.invalid"];
const text =
  (body: string, status = 200): Alteration =>
  (_, response) =>
    void response.writeHead(status).end(body);

test.each<[string, Alteration]>([
  ["no JSON", text("<html>busy</html>")],
  ["an empty body", text("")],
  ["JSON that is no answer", text("[]")],
  ["an answer without a result", text('{"jsonrpc":"2.0","id":1}')],
  ["a result of null", text('{"jsonrpc":"2.0","id":1,"result":null}')],
  ["a result of another type", text('{"jsonrpc":"2.0","id":1,"result":{"length":-1}}')],
  ["a result that is not hexadecimal", text('{"jsonrpc":"2.0","id":1,"result":"0xzz"}')],
  ["an error", text('{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"limit exceeded"}}')],
  ["an error that is none", text('{"jsonrpc":"2.0","id":1,"error":[]}')],
  ["a status of 429", text("slow down", 429)],
  ["a redirect", (_, response) => void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end()],
  ["a body that is too large", text(`{"result":"0x${"0".repeat(5_000_000)}"}`)],
  ["a connection that is cut", (_, response) => void response.destroy()],
])("%s is no answer", async (_, alter) => {
  expect(await resolvedWith(alter)).toEqual({ first: UNREACHABLE, later: UNREACHABLE });
});

test("a result that is cut is no answer, and one of zeros is no record", async () => {
  const cut = replaced("eth_call", (result) => String(result).slice(0, 200));
  expect(await resolvedWith(cut)).toEqual({ first: UNREACHABLE, later: UNREACHABLE });
  const none = replaced("eth_call", () => "0x");
  expect(await resolvedWith(none)).toEqual({ first: UNREACHABLE, later: UNREACHABLE });
});

test("a node of another chain is refused, also if it becomes one later", async () => {
  const other = replaced("eth_chainId", () => "0x1");
  expect(await resolvedWith(other)).toEqual({ first: INVALID, later: INVALID });
});

test("a node that does not answer, or byte by byte, is given up after the time limit", async () => {
  const silent: Alteration = () => undefined;
  expect(await resolvedWith(silent, 300)).toEqual({ first: UNREACHABLE, later: UNREACHABLE });
  const dripping: Alteration = (_, response) => {
    const timer = setInterval(() => response.write(" "), 20);
    response.once("close", () => clearInterval(timer));
  };
  expect(await resolvedWith(dripping, 300)).toEqual({ first: UNREACHABLE, later: UNREACHABLE });
});

test("an answer that took longer than a record may be old is not used, by nobody who waited for it", async () => {
  let now = 1_000;
  const registry = registryBehind(10_000);
  const cache = new DidCache({ registries: [registry], limits: { failureMs: 0 }, now: () => now });
  let held: (() => void) | undefined;
  node.alter = (exchange, response) => {
    if (exchange.method !== "eth_call") return passed(exchange, response);
    held = () => passed(exchange, response);
  };
  const first = outcome(cache);
  await expect.poll(() => held !== undefined, { timeout: 15_000 }).toBe(true);
  // The node read the record before this.
  now += 5_001;
  const second = outcome(cache);
  held?.();
  expect([await first, await second]).toEqual([
    ["ErrDIDNotResolved", "record.stale"],
    ["ErrDIDNotResolved", "record.stale"],
  ]);
  node.alter = passed;
  expect(await outcome(cache)).toBe("Ed25519");
  await registry.close();
});

test("who asks while the node is silent waits for one request, not for many", async () => {
  const registry = registryBehind(400);
  const cache = new DidCache({ registries: [registry], limits: { ttlMs: 0, failureMs: 60_000 } });
  node.alter = () => undefined;
  node.requests = 0;
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => outcome(cache)));
  expect(outcomes).toEqual(Array.from({ length: 50 }, () => UNREACHABLE));
  expect(await outcome(cache)).toEqual(UNREACHABLE);
  expect(node.requests).toBe(1);
  await registry.close();
});
