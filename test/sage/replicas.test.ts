import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { afterEach, expect, test } from "vitest";
import type { Account } from "../../src/protocols/sage/identity/account.js";
import type { DevChain } from "../../src/protocols/sage/node/dev-chain.js";
import { exited } from "../child-process.js";
import { compiled } from "../programs.js";
import type { ResolverFacts } from "./processes/resolver.js";
import { chainRegistry, newAgent, register, startDevChain, type TestRegistry } from "./registries.js";

/** Replicas in processes of their own, on one chain: a revocation holds on each of them within the time that the cache promises. */

const TTL_MS = 5_000;
const REPLICAS = 2;

class Replica {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(facts: ResolverFacts) {
    this.#child = spawn(process.execPath, [compiled("test/sage/processes/resolver.ts")], { stdio: ["pipe", "pipe", "inherit"] });
    this.#lines = createInterface({ input: this.#child.stdout ?? process.stdin })[Symbol.asyncIterator]();
    this.#child.stdin?.write(`${JSON.stringify(facts)}\n`);
  }

  static async start(facts: ResolverFacts): Promise<Replica> {
    const replica = new Replica(facts);
    expect(await replica.#line()).toBe("ready");
    return replica;
  }

  async #line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error("the replica ended");
    return value;
  }

  /** One order, and its answer. */
  async order(words: string): Promise<string> {
    this.#child.stdin?.write(`${words}\n`);
    return this.#line();
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGKILL");
    await exited(this.#child);
  }
}

interface Deployment {
  readonly chain: DevChain;
  readonly registries: TestRegistry;
  readonly account: Account;
  /** The key that is used. */
  readonly key: string;
  /** What each replica says. */
  all(words: string): Promise<readonly string[]>;
}

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function deployment(cache: Pick<ResolverFacts, "ttlMs" | "watchMs">): Promise<Deployment> {
  const chain = await startDevChain(0);
  ends.push(() => chain.stop());
  const registries = await chainRegistry(chain);
  ends.push(() => registries.close());
  const agent = await newAgent();
  const account = await register(registries, agent);
  const [, , registry = ""] = registries.registry.id.split(":");
  const replicas: Replica[] = [];
  for (let i = 0; i < REPLICAS; i++) {
    const replica = await Replica.start({ rpc: chain.rpc, registry, ...cache });
    replicas.push(replica);
    ends.push(() => replica.stop());
  }
  const all = (words: string) => Promise.all(replicas.map((replica) => replica.order(words)));
  return { chain, registries, account, key: `${agent.did}#key-2`, all };
}

const each = (answer: string): readonly string[] => Array.from({ length: REPLICAS }, () => answer);
const REVOKED = each("ErrDIDNotResolved key.revoked");
const UNREACHABLE = each("ErrDIDNotResolved record.unreachable");

/** Every replica has heard of the chain and keeps the record: it is used without being read again. */
async function kept({ key, all }: Deployment): Promise<void> {
  // The second look begins after the first one was handled, which forgets everything.
  await expect.poll(async () => (await all("looks")).every((looks) => Number(looks) >= 2), { timeout: 15_000 }).toBe(true);
  expect(await all(`use ${key}`)).toEqual(each("accepted"));
  const reads = await all("reads");
  expect(await all(`use ${key}`)).toEqual(each("accepted"));
  expect(await all("reads")).toEqual(reads);
}

test("without events a revoked key is used for the time of the cache and not a millisecond longer, on every replica", async () => {
  const { registries, account, key, all } = await deployment({ ttlMs: TTL_MS });
  expect(await all(`use ${key}`)).toEqual(each("accepted"));
  await registries.registry.submit(account, { kind: "revoke", name: "key-2" });
  await all(`clock ${TTL_MS - 1}`);
  expect(await all(`use ${key}`)).toEqual(each("accepted"));
  await all(`clock ${TTL_MS}`);
  expect(await all(`use ${key}`)).toEqual(REVOKED);
});

test("a replica without a cache refuses the next use", async () => {
  const { registries, account, key, all } = await deployment({ ttlMs: 0 });
  expect(await all(`use ${key}`)).toEqual(each("accepted"));
  await registries.registry.submit(account, { kind: "revoke", name: "key-2" });
  expect(await all(`use ${key}`)).toEqual(REVOKED);
});

test("an event of the chain ends what every replica keeps, though no time passes on their clocks", async () => {
  const deployed = await deployment({ ttlMs: 60_000, watchMs: 20 });
  const { registries, account, key, all } = deployed;
  await kept(deployed);
  await registries.registry.submit(account, { kind: "revoke", name: "key-2" });
  await expect.poll(() => all(`use ${key}`), { timeout: 15_000 }).toEqual(REVOKED);
});

test("an agent that is deactivated is refused by every replica", async () => {
  const deployed = await deployment({ ttlMs: 60_000, watchMs: 20 });
  const { registries, account, key, all } = deployed;
  await kept(deployed);
  await registries.registry.submit(account, { kind: "deactivate" });
  await expect.poll(() => all(`use ${key}`), { timeout: 15_000 }).toEqual(each("ErrDIDNotResolved record.inactive"));
});

test("the node stopped: what was read is used for its time, then nothing is", async () => {
  const { chain, key, all } = await deployment({ ttlMs: TTL_MS });
  expect(await all(`use ${key}`)).toEqual(each("accepted"));
  await chain.stop("SIGKILL");
  await all(`clock ${TTL_MS - 1}`);
  expect(await all(`use ${key}`)).toEqual(each("accepted"));
  await all(`clock ${TTL_MS}`);
  expect(await all(`use ${key}`)).toEqual(UNREACHABLE);
  await all(`clock ${10 * TTL_MS}`);
  expect(await all(`use ${key}`)).toEqual(UNREACHABLE);
});

test("the node stopped: replicas that watch it use nothing that they kept", async () => {
  const deployed = await deployment({ ttlMs: 60_000, watchMs: 20 });
  const { chain, key, all } = deployed;
  await kept(deployed);
  await chain.stop("SIGKILL");
  await expect.poll(() => all(`use ${key}`), { timeout: 15_000 }).toEqual(UNREACHABLE);
});
