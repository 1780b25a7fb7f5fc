import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recordsBelow } from "../../src/envelope/index.js";
import { EvmRegistry } from "../../src/protocols/sage/chain/evm-registry.js";
import { accountOf, addressOf } from "../../src/protocols/sage/identity/account.js";
import { sageDidOf } from "../../src/protocols/sage/identity/did-sage.js";
import { type DevChain, deployRegistry, startDevChain } from "../../src/protocols/sage/node/dev-chain.js";
import { EmbeddedRegistry } from "../../src/protocols/sage/registry/embedded.js";
import { provenKey } from "../../src/protocols/sage/registry/possession.js";
import type { NewKey, Operation, Registry } from "../../src/protocols/sage/registry/registry.js";
import { createIdentity, type LocalIdentity } from "../../src/security/identity/index.js";
import { openSqliteStore } from "../../src/tasks/stores/sqlite.js";

/** A registry under test, with what its tests need besides. */
export interface TestRegistry {
  readonly registry: Registry;
  readonly kind: "chain" | "embedded";
  /** Gives an account what operations cost. */
  fund(account: string): Promise<void>;
  /** Lets this many blocks or records pass. */
  pass(blocks: number): Promise<void>;
  /** Lets time pass. */
  wait(seconds: number): Promise<void>;
  /** Milliseconds since the epoch, as the registry sees it. */
  now(): Promise<number>;
  close(): Promise<void>;
}

export async function chainRegistry(chain: DevChain): Promise<TestRegistry> {
  const registry = new EvmRegistry({ network: "local", rpc: chain.rpc, registry: await deployRegistry(chain.rpc) });
  return {
    registry,
    kind: "chain",
    async fund(account) {
      if (!(await registry.fund(account))) throw new Error("the node gave nothing");
    },
    pass: (blocks) => rpc(chain, "anvil_mine", [`0x${blocks.toString(16)}`]).then(() => undefined),
    async wait(seconds) {
      await rpc(chain, "evm_increaseTime", [seconds]);
      await rpc(chain, "anvil_mine", ["0x1"]);
    },
    async now() {
      const { timestamp } = (await rpc(chain, "eth_getBlockByNumber", ["latest", false])) as { timestamp: string };
      return Number(timestamp) * 1_000;
    },
    close: () => registry.close(),
  };
}

export async function embeddedRegistry(): Promise<TestRegistry> {
  const folder = mkdtempSync(join(tmpdir(), "koine-sage-"));
  let now = 1_800_000_000_000;
  const store = await openSqliteStore({ file: join(folder, "tasks.db"), now: () => now });
  const registry = new EmbeddedRegistry(recordsBelow(store.records, "sage"), { network: "local", now: () => now });
  return {
    registry,
    kind: "embedded",
    fund: async () => undefined,
    async pass(blocks) {
      const someone = await newAgent();
      for (let i = 0; i < blocks; i++)
        await registry.submit(await accountOf(someone), { kind: "commit", commitment: `0x${i.toString(16).padStart(64, "0")}` });
    },
    async wait(seconds) {
      now += seconds * 1_000;
    },
    now: async () => now,
    async close() {
      await store.close?.();
      rmSync(folder, { recursive: true });
    },
  };
}

export async function rpc(chain: DevChain, method: string, params: readonly unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await fetch(chain.rpc, { method: "POST", headers: { "content-type": "application/json" }, body });
  const { result, error } = (await response.json()) as { result?: unknown; error?: unknown };
  if (error !== undefined) throw new Error(JSON.stringify(error));
  return result;
}

/** An identity with the account of which its DID is made, a key to sign with and one to agree with. */
export async function newAgent(): Promise<LocalIdentity> {
  // The address needs a hash that is loaded asynchronously, and the DID is made of the key synchronously.
  const { keccak_256 } = await import("@noble/hashes/sha3.js");
  const did = ({ bytes }: { readonly bytes: Uint8Array }): string =>
    sageDidOf("local", `0x${Buffer.from(keccak_256(bytes.subarray(1)).subarray(12)).toString("hex")}`);
  const identity = createIdentity({ name: "agent", did, kinds: ["secp256k1", "Ed25519", "X25519"] });
  const [first] = identity.keys();
  if (first === undefined || !identity.did.endsWith(await addressOf(first.bytes))) throw new Error("addresses differ");
  return identity;
}

export const SALT = `0x${"5a".repeat(32)}`;

export async function registrationOf(
  identity: LocalIdentity,
  registry: Registry,
  endpoint = "https://agent.example/a2a",
): Promise<Extract<Operation, { kind: "register" }>> {
  const { address } = await accountOf(identity);
  const keys: NewKey[] = [];
  for (const key of identity.keys()) keys.push(await provenKey(identity, key, registry.id, address));
  return { kind: "register", keys, endpoint, salt: SALT };
}

/** Commits and reveals; resolves with the account. */
export async function register({ registry, fund }: Pick<TestRegistry, "registry" | "fund">, identity: LocalIdentity) {
  const account = await accountOf(identity);
  await fund(account.address);
  const registration = await registrationOf(identity, registry);
  await registry.submit(account, { kind: "commit", commitment: await registry.commitmentOf(account.address, registration) });
  await registry.submit(account, registration);
  return account;
}

export { startDevChain };
