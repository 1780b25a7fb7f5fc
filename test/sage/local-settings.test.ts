import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { recordsBelow } from "../../src/envelope/index.js";
import { EvmRegistry } from "../../src/protocols/sage/chain/evm-registry.js";
import { DidCache } from "../../src/protocols/sage/identity/did-cache.js";
import { createIdentity } from "../../src/protocols/sage/node/create-identity.js";
import { type DevChain, deployRegistry, findDevChain, startDevChain } from "../../src/protocols/sage/node/dev-chain.js";
import { openIdentity } from "../../src/security/identity/index.js";
import { createMemoryStore } from "../../src/tasks/index.js";
import { freePort } from "../anp/directory.js";
import { rpc } from "./registries.js";

/** The development chain of this machine, and identities that are registered on it. */

let chain: DevChain;
const folder = mkdtempSync(join(tmpdir(), "koine-local-"));
beforeAll(async () => {
  chain = await startDevChain(0);
});
afterAll(async () => {
  await chain.stop();
  rmSync(folder, { recursive: true });
});

const portOf = ({ rpc: url }: DevChain): number => Number(new URL(url).port);

test("is found once the registry is deployed on it, and not where nothing listens or another chain is", async () => {
  expect(await findDevChain(await freePort())).toBeUndefined();
  expect(await findDevChain(portOf(chain))).toBeUndefined();
  const registry = await deployRegistry(chain.rpc);
  expect(await findDevChain(portOf(chain))).toEqual({ rpc: chain.rpc, registry });
  await rpc(chain, "anvil_setChainId", [1]);
  expect(await findDevChain(portOf(chain))).toBeUndefined();
  await rpc(chain, "anvil_setChainId", [31_337]);
});

test("has the identities that are made with its settings", async () => {
  const settings = await findDevChain(portOf(chain));
  const records = recordsBelow(createMemoryStore({ now: Date.now }).records, "sage");
  const file = join(folder, "agent.json");
  await createIdentity(file, { endpoint: "http://127.0.0.1:1", records, settings });
  const registry = new EvmRegistry({ network: "local", rpc: chain.rpc, registry: String(settings?.["registry"]) });
  try {
    const { did } = await openIdentity(file);
    const info = await new DidCache({ registries: [registry] }).getAgentInfo(did);
    expect(info).toMatchObject({ active: true, endpoint: "http://127.0.0.1:1", source: { kind: "chain" } });
  } finally {
    await registry.close();
  }
});
