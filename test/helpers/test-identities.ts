import { recordsBelow } from "../../src/envelope/index.js";
import { didMethodsOf } from "../../src/protocols/did-methods.js";
import { accountOf } from "../../src/protocols/sage/identity/account.js";
import { EmbeddedRegistry } from "../../src/protocols/sage/registry/embedded.js";
import { createIdentity, createResolver, type Identity, type Resolver } from "../../src/public/identity.js";
import type { Protocol } from "../../src/public/protocols.js";
import { createMemoryStore } from "../../src/tasks/index.js";
import { newAgent, registrationOf } from "../sage/registries.js";

/** Who a server or a caller of a test is, and how it finds out who the others are. */
export interface TestParty {
  readonly identity?: Identity;
  readonly resolver?: Resolver;
}

/** The identities that servers and callers of these protocols need. */
export interface TestIdentities {
  server(): Promise<TestParty>;
  /** Calls by other protocols than those between identities are anonymous. */
  caller(protocol: Protocol): Promise<TestParty>;
}

const HOST_IDENTITY = createIdentity({ name: "host", did: "key" });
/** The registry of one process. Its DIDs are those of the only protocol between identities. */
const { records } = createMemoryStore({ now: Date.now });
const registry = new EmbeddedRegistry(recordsBelow(records, "sage"), { network: "local", now: Date.now });
const resolvers = new WeakMap<readonly Protocol[], Resolver>();

/** A did:key where it is enough, and DIDs in the embedded registry where a protocol needs them. */
export function identitiesFor(protocols: readonly Protocol[]): TestIdentities {
  if (!protocols.some(({ needsIdentity }) => needsIdentity === true)) {
    const isUsed = protocols.some(({ usesIdentity }) => usesIdentity === true);
    return { server: async () => (isUsed ? { identity: HOST_IDENTITY } : {}), caller: async () => ({}) };
  }
  const resolver = resolverOf(protocols);
  return {
    server: async () => ({ identity: await registeredIdentity(), resolver }),
    caller: async ({ needsIdentity }) =>
      needsIdentity === true ? { identity: await registeredIdentity(), resolver } : { resolver },
  };
}

function resolverOf(protocols: readonly Protocol[]): Resolver {
  const known = resolvers.get(protocols) ?? createResolver({ from: "loopback", methods: didMethodsOf(protocols, {}, records) });
  resolvers.set(protocols, known);
  return known;
}

/** A new identity in the registry. */
async function registeredIdentity(): Promise<Identity> {
  const identity = await newAgent();
  const account = await accountOf(identity);
  const registration = await registrationOf(identity, registry, "http://127.0.0.1:1");
  const commitment = await registry.commitmentOf(account.address, registration);
  await registry.submit(account, { kind: "commit", commitment });
  await registry.submit(account, registration);
  return identity;
}
