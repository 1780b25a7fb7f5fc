import type { Maybe } from "../../../envelope/index.js";
import { RegistryRefusal } from "../errors.js";
import { isProvenKey } from "./possession.js";
import { type NewKey, type Operation, REGISTRY_LIMITS, type RegisteredKey, type RegistryRecord } from "./registry.js";

/** The state machine of `contracts/SageRegistry.sol` for a registry without a chain. The same contract tests run against both. */

export type AgentState = Omit<RegistryRecord, "source">;

/** When and by whom an operation is made. */
export interface Moment {
  readonly account: string;
  /** The number of the record that the operation becomes. */
  readonly block: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly registry: string;
  /** The key that signed the operation, if it was recorded: it needs no other proof of its possession. */
  readonly signer?: Maybe<Uint8Array>;
}

const NAME = /^[A-Za-z0-9._-]+$/;
const KEY_BYTES = { Ed25519: 32, X25519: 32, secp256k1: 65 } as const;
const PROOF_BYTES = 64;
const UNCOMPRESSED = 4;

/** A commitment is kept with the block in which it was made. Throws `RegistryRefusal`. */
export function checkCommit(made: Maybe<number>, { block }: Moment): void {
  if (made !== undefined && block - made <= REGISTRY_LIMITS.revealBlocks) throw new RegistryRefusal("AlreadyCommitted");
}

export function checkReveal(made: Maybe<number>, { block }: Moment): void {
  if (made === undefined) throw new RegistryRefusal("NoCommitment");
  if (block === made) throw new RegistryRefusal("RevealTooSoon");
  if (block - made > REGISTRY_LIMITS.revealBlocks) throw new RegistryRefusal("RevealTooLate");
}

/** The agent after an operation of its account. Throws `RegistryRefusal`. */
export async function nextState(
  agent: Maybe<AgentState>,
  operation: Exclude<Operation, { kind: "commit" }>,
  at: Moment,
): Promise<AgentState> {
  if (operation.kind === "register") return registered(agent, operation, at);
  if (agent?.state !== "active") throw new RegistryRefusal("NotActive");
  const changed: AgentState = { ...agent, version: agent.version + 1, updatedAt: at.now };
  switch (operation.kind) {
    case "addKey":
      return { ...changed, keys: await withKey(agent.keys, operation.key, at) };
    case "rotate":
      return { ...changed, keys: await rotated(agent.keys, operation, at) };
    case "revoke":
      return { ...changed, keys: revoked(agent.keys, operation.name, at) };
    case "setEndpoint":
      return { ...changed, endpoint: checkedEndpoint(operation.endpoint) };
    case "deactivate":
      return { ...changed, state: "deactivated" };
  }
}

async function registered(
  agent: Maybe<AgentState>,
  { keys, endpoint }: Extract<Operation, { kind: "register" }>,
  at: Moment,
): Promise<AgentState> {
  if (agent !== undefined) throw new RegistryRefusal("AlreadyRegistered");
  if (keys.length === 0) throw new RegistryRefusal("NoKeys");
  const { account, now } = at;
  let listed: readonly RegisteredKey[] = [];
  for (const key of keys) listed = await withKey(listed, key, at);
  const times = { registeredAt: now, updatedAt: now };
  return { account, state: "active", version: 1, endpoint: checkedEndpoint(endpoint), ...times, keys: listed };
}

async function rotated(
  keys: readonly RegisteredKey[],
  { old: name, key, overlapSeconds }: Extract<Operation, { kind: "rotate" }>,
  at: Moment,
): Promise<readonly RegisteredKey[]> {
  if (overlapSeconds > REGISTRY_LIMITS.overlapSeconds) throw new RegistryRefusal("OverlapTooLong");
  const old = keyNamed(keys, name);
  if (old.endsAt !== undefined) throw new RegistryRefusal("KeyOutOfUse");
  if (old.kind !== key.kind) throw new RegistryRefusal("OtherKind");
  const ended = { ...old, endsAt: at.now + overlapSeconds * 1_000 };
  return withKey(
    keys.map((each) => (each === old ? ended : each)),
    key,
    at,
  );
}

function revoked(keys: readonly RegisteredKey[], name: string, { now }: Moment): readonly RegisteredKey[] {
  const key = keyNamed(keys, name);
  if (key.revoked) throw new RegistryRefusal("KeyOutOfUse");
  return keys.map((each) => (each === key ? { ...key, revoked: true, endsAt: now } : each));
}

async function withKey(keys: readonly RegisteredKey[], key: NewKey, at: Moment): Promise<readonly RegisteredKey[]> {
  const { name, kind, bytes, proof } = key;
  if (keys.length >= REGISTRY_LIMITS.keys) throw new RegistryRefusal("TooManyKeys");
  if (!NAME.test(name) || name.length > REGISTRY_LIMITS.nameBytes) throw new RegistryRefusal("InvalidName");
  for (const each of keys) {
    if (each.name === name) throw new RegistryRefusal("NameTaken");
    if (Buffer.compare(each.bytes, bytes) === 0) throw new RegistryRefusal("KeyExists");
  }
  if (bytes.length !== KEY_BYTES[kind] || (kind === "secp256k1" && bytes[0] !== UNCOMPRESSED))
    throw new RegistryRefusal("InvalidKey");
  // As on the chain, which cannot verify the other kinds: their proofs are for readers.
  const isProven =
    kind === "secp256k1"
      ? isSame(at.signer, bytes) || (await isProvenKey({ registry: at.registry, agent: at.account, name }, key))
      : proof.length === PROOF_BYTES;
  if (!isProven) throw new RegistryRefusal("InvalidProof");
  return [...keys, { name, kind, bytes, proof, addedAt: at.now, revoked: false }];
}

function isSame(signer: Maybe<Uint8Array>, bytes: Uint8Array): boolean {
  return signer !== undefined && Buffer.compare(signer, bytes) === 0;
}

function keyNamed(keys: readonly RegisteredKey[], name: string): RegisteredKey {
  const key = keys.find((each) => each.name === name);
  if (key === undefined) throw new RegistryRefusal("UnknownKey");
  return key;
}

function checkedEndpoint(endpoint: string): string {
  if (Buffer.byteLength(endpoint) > REGISTRY_LIMITS.endpointBytes) throw new RegistryRefusal("EndpointTooLong");
  return endpoint;
}
