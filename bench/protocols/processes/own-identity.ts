import { createResolver, type Identity, openIdentity, type Resolver } from "../../../src/public/identity.js";
import type { Protocol } from "../../../src/public/protocols.js";
import { createMemoryStore } from "../../../src/public/stores.js";
import type { IdentityTask } from "./tasks.js";

/** The identity of a process, and how it finds the keys of the others of its run. */
export interface OwnIdentity {
  readonly identity: Identity;
  readonly resolver: Resolver;
}

/** By the records that a process was given, the protocol and the file. */
const opened = new WeakMap<IdentityTask["records"], Map<string, Promise<OwnIdentity>>>();

/** One for each identity of a process: its server and its clients have the same keys, and find those of the others once. */
export function openOwnIdentity(file: string, { records }: IdentityTask, protocol: Protocol): Promise<OwnIdentity> {
  const known = opened.get(records) ?? new Map<string, Promise<OwnIdentity>>();
  opened.set(records, known);
  const name = `${protocol.id} ${file}`;
  const own = known.get(name) ?? open(file, records, protocol);
  known.set(name, own);
  return own;
}

async function open(file: string, records: IdentityTask["records"], { didMethods }: Protocol): Promise<OwnIdentity> {
  const store = createMemoryStore({ now: Date.now });
  for (const { key, value } of records) await store.records.put(key, value);
  return {
    identity: await openIdentity(file),
    resolver: createResolver({ from: "loopback", methods: didMethods?.(undefined, store.records) ?? [] }),
  };
}
