import type { Maybe } from "../../../envelope/index.js";
import { type DidDocument, type KeyUse, keyBytes, type PublicKey, writeDidDocument } from "../../../security/identity/index.js";
import type { RecordSource, RegisteredKey, RegistryKeyKind, RegistryReader, RegistryRecord } from "../registry/registry.js";
import type { SageDid } from "./did-sage.js";

/** What a reader may do with a key. `unproven`: its proof of possession is invalid, so that it may be the key of somebody else. */
export type KeyState = "accepted" | "replaced" | "ended" | "revoked" | "unproven";

/** A key of an agent after its proof was verified. */
export interface AgentKey {
  /** The DID URL. */
  readonly id: string;
  readonly kind: RegistryKeyKind;
  readonly bytes: Uint8Array;
  readonly state: KeyState;
  readonly addedAt: number;
  readonly endsAt: Maybe<number>;
}

/** What a registry says about a DID, verified. */
export interface AgentInfo {
  readonly did: string;
  readonly registered: boolean;
  readonly active: boolean;
  readonly version: number;
  /** The endpoint of the agent; empty if it has none. */
  readonly endpoint: string;
  readonly registeredAt: number;
  readonly updatedAt: number;
  readonly keys: readonly AgentKey[];
  /** Where this was read: a chain, or the embedded registry of this deployment. */
  readonly source: RecordSource;
  /** When, in milliseconds since the epoch. */
  readonly observedAt: number;
}

const USES: { readonly [kind in RegistryKeyKind]: readonly KeyUse[] } = {
  Ed25519: ["authentication", "assertion"],
  secp256k1: ["authentication", "assertion"],
  X25519: ["agreement"],
};

/** The record with every proof verified. */
export async function verifiedInfo(
  { did, account }: SageDid,
  record: RegistryRecord,
  registry: RegistryReader,
  now: number,
): Promise<AgentInfo> {
  const keys: AgentKey[] = [];
  for (const key of record.keys) {
    const state = await stateOf(key, account, registry, now);
    keys.push({ id: `${did}#${key.name}`, kind: key.kind, bytes: key.bytes, state, addedAt: key.addedAt, endsAt: key.endsAt });
  }
  const { version, endpoint, registeredAt, updatedAt, source } = record;
  const times = { registeredAt, updatedAt, observedAt: now };
  return { did, registered: true, active: record.state === "active", version, endpoint, ...times, keys, source };
}

async function stateOf(key: RegisteredKey, account: string, registry: RegistryReader, now: number): Promise<KeyState> {
  if (key.revoked) return "revoked";
  // Also refuses points of small order and points that are not on their curve.
  if (keyBytes(key.kind, key.bytes) === undefined || !(await registry.isProven(account, key))) return "unproven";
  if (key.endsAt === undefined) return "accepted";
  return now < key.endsAt ? "replaced" : "ended";
}

/** The keys that may be used: the newest of each kind that is not replaced comes first. */
export function usableKeys({ active, keys }: AgentInfo): readonly PublicKey[] {
  if (!active) return [];
  const usable = keys.filter(({ state }) => state === "accepted" || state === "replaced");
  const inOrder = usable.sort((one, other) => rank(one) - rank(other) || other.addedAt - one.addedAt);
  return inOrder.map(({ id, kind, bytes, endsAt }) => ({
    id,
    kind,
    bytes,
    uses: USES[kind],
    ...(endsAt === undefined ? {} : { expires: endsAt }),
  }));
}

function rank({ state }: AgentKey): number {
  return state === "accepted" ? 0 : 1;
}

/** The record as a DID document. A deactivated agent has no keys. */
export function documentOf(info: AgentInfo): DidDocument {
  const { did, active, endpoint } = info;
  const keys = usableKeys(info);
  const services = active && URL.canParse(endpoint) ? [{ id: `${did}#agent`, type: "AgentService", url: endpoint }] : [];
  const bytes = new TextEncoder().encode(JSON.stringify(writeDidDocument({ did, keys, services, deactivated: !active })));
  return { id: did, keys, services, deactivated: !active, successor: undefined, bytes };
}
