import { createResolver, type Identity, openIdentity, type Resolver } from "../../../src/public/identity.js";
import type { Protocol } from "../../../src/public/protocols.js";
import { createMemoryStore } from "../../../src/public/stores.js";
import type { IdentityTask } from "./tasks.js";

/** The identity of a process, and how it finds the keys of the others of its run. */
export interface OwnIdentity {
  readonly identity: Identity;
  readonly resolver: Resolver;
}

export async function openOwnIdentity(file: string, { records }: IdentityTask, { didMethods }: Protocol): Promise<OwnIdentity> {
  const store = createMemoryStore({ now: Date.now });
  for (const { key, value } of records) await store.records.put(key, value);
  return {
    identity: await openIdentity(file),
    resolver: createResolver({ from: "loopback", methods: didMethods?.(undefined, store.records) ?? [] }),
  };
}
