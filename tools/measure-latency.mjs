// Measures what the table of docs/sage.md says about latency, and writes docs/measured/sage-latency.json: node --import tsx tools/measure-latency.mjs
// Both ends are in one process, messages have 300 bytes, one is sent at a time, and the protocols take turns. `npm run docs` writes the table.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";

const { newAgent, newMessage, ProtocolA2A, ProtocolSAGE } = await import("../src/protocols/sage/api/index.ts");
const { createReplayGuard } = await import("../src/public/auth.ts");
const { DEFAULT_LIMITS } = await import("../src/internal.ts");
const { EmbeddedRegistry } = await import("../src/protocols/sage/registry/embedded.ts");
const { EvmRegistry } = await import("../src/protocols/sage/chain/evm-registry.ts");
const { deployRegistry, startDevChain } = await import("../src/protocols/sage/node/dev-chain.ts");
const { createMemoryStore } = await import("../src/index.ts");
const { recordsBelow } = await import("../src/public/stores.ts");
const { newAgent: newIdentity, registrationOf } = await import("../test/sage/registries.ts");
const { accountOf } = await import("../src/protocols/sage/identity/account.ts");
const { freePort } = await import("../test/anp/directory.ts");

const [MESSAGES, SESSIONS] = [500, 30];
const TEXT = "x".repeat(300);
const FILE = "docs/measured/sage-latency.json";

async function register(registry, endpoint) {
  const identity = await newIdentity();
  const account = await accountOf(identity);
  await registry.fund?.(account.address);
  const registration = await registrationOf(identity, registry, endpoint);
  await registry.submit(account, { kind: "commit", commitment: await registry.commitmentOf(account.address, registration) });
  await registry.submit(account, registration);
  return identity;
}

/** A served agent with the same options as its callers, in one registry. */
async function world(registry, place) {
  const sageOf = (identity) => ({
    ...place,
    did: identity.did,
    network: "local",
    identity,
    replay: createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now, knownSinceMs: 0 }),
  });
  const port = await freePort();
  const served = await register(registry, `http://127.0.0.1:${port}`);
  const desk = newAgent("desk")
    .withProtocol(ProtocolSAGE)
    .withSAGE(sageOf(served))
    .onMessage(({ text }) => text)
    .build();
  const server = await desk.serve({ port });
  const caller = async () =>
    newAgent("caller")
      .withProtocol(ProtocolSAGE)
      .withSAGE(sageOf(await register(registry, "")))
      .build();
  return { caller, did: served.did, close: () => server.close() };
}

const send = async (agent, to) => {
  const startedAt = performance.now();
  await agent.sendMessage(newMessage(TEXT, to));
  return performance.now() - startedAt;
};
const quantile = (values, share) => Number(values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1].toFixed(2));
const figures = (values) => ({ p50Ms: quantile(values, 0.5), p95Ms: quantile(values, 0.95), messages: values.length });

/** The first message of a caller: the DID is resolved, and a session is made. */
async function firstOf({ caller, did }) {
  const values = [];
  for (let each = 0; each < SESSIONS; each++) {
    const agent = await caller();
    values.push(await send(agent, { recipientDid: did }));
    await agent.close();
  }
  return figures(values);
}

const loadBefore = loadavg()[0];
const store = createMemoryStore({ now: Date.now });
const embedded = await world(new EmbeddedRegistry(recordsBelow(store.records, "sage"), { network: "local", now: Date.now }), {
  store,
});
const chain = await startDevChain(0);
const registry = await deployRegistry(chain.rpc);
const evm = new EvmRegistry({ network: "local", rpc: chain.rpc, registry });
const onChain = await world(evm, { registry: { rpc: chain.rpc, address: registry } });
const plainServer = await newAgent("plain")
  .withProtocol(ProtocolA2A)
  .onMessage(({ text }) => text)
  .build()
  .serve();

const plain = newAgent("caller").withProtocol(ProtocolA2A).build();
const secured = await embedded.caller();
const arms = [
  { agent: plain, to: { recipientUrl: plainServer.url }, values: [] },
  { agent: secured, to: { recipientDid: embedded.did }, values: [] },
];
for (let each = -MESSAGES / 5; each < MESSAGES; each++)
  for (const { agent, to, values } of arms) {
    const ms = await send(agent, to);
    if (each >= 0) values.push(ms); // the first ones warm up
  }
const result = {
  about: "milliseconds of a message of 300 bytes and its answer, over HTTP on one machine, both ends in one process",
  command: "node --import tsx tools/measure-latency.mjs",
  commit: execFileSync("git", ["rev-parse", "--short=12", "HEAD"], { encoding: "utf8" }).trim(),
  date: new Date().toISOString().slice(0, 10),
  machine: { cores: cpus().length, cpu: cpus()[0]?.model ?? "unknown", node: process.version, loadBefore },
  a2a: figures(arms[0].values),
  sage: figures(arms[1].values),
  first: { embedded: await firstOf(embedded), chain: await firstOf(onChain) },
};
mkdirSync("docs/measured", { recursive: true });
writeFileSync(FILE, `${JSON.stringify(result, undefined, 2)}\n`);
console.log(JSON.stringify(result));
await Promise.all([plain.close(), secured.close(), embedded.close(), onChain.close(), plainServer.close(), evm.close()]);
await chain.stop();
process.exit(0);
