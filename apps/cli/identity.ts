import { basename } from "node:path";
import type { Json } from "../../src/index.js";
import {
  changeIdentity,
  didDocumentOf,
  didWebUrl,
  encodeMultikey,
  isKeyKind,
  type LocalIdentity,
  writeNewIdentity,
} from "../../src/internal.js";
import { createIdentity, type KeyKind, keyFingerprint, openIdentity } from "../../src/public/identity.js";
import { usageError } from "./exit.js";
import { createOutput, type Format } from "./output.js";

interface OutputOptions {
  readonly output: Format;
}

interface CreateOptions extends OutputOptions {
  readonly did: string;
  readonly name?: string;
  readonly kind?: readonly string[];
}

/** Stands for the fingerprint of the first key (RFC 7638), in DIDs that name their key. */
const FINGERPRINT = "{fingerprint}";

/** `koine identity create`. */
export async function createIdentityFile(file: string, options: CreateOptions): Promise<void> {
  const { did, name = basename(file).replace(/\.[^.]*$/, "") } = options;
  const whole = did === "key" || did.startsWith("did:") ? did : `did:${did}`;
  if (whole.startsWith("did:web:") && didWebUrl(whole) === undefined)
    throw usageError(`${whole} is not a valid did:web`, "Write --did web:HOST, web:HOST%3APORT or web:HOST:PATH, in lower case.");
  const identity = createIdentity({
    name,
    did: whole.includes(FINGERPRINT) ? (key) => whole.replaceAll(FINGERPRINT, keyFingerprint(key)) : whole,
    kinds: kindsOf(options.kind),
  });
  await writeNewIdentity(file, identity);
  await show(file, identity, options);
}

/** `koine identity show`. */
export async function showIdentity(file: string, options: OutputOptions): Promise<void> {
  await show(file, await openIdentity(file), options);
}

/** `koine identity document`. */
export async function printDocument(file: string, { service = [] }: { readonly service?: readonly string[] }): Promise<void> {
  const identity = await openIdentity(file);
  const { did } = identity;
  const invalid = service.find((url) => !URL.canParse(url));
  if (invalid !== undefined) throw usageError(`--service ${invalid} is not a URL`, "Write https://host/path.");
  const services = service.map((url, index) => ({ id: `${did}#agent-${index + 1}`, type: "AgentService", url }));
  await createOutput("json").document(didDocumentOf(identity, services) as Json); // plain data
}

interface RotateOptions extends OutputOptions {
  readonly kind?: readonly string[];
  readonly overlap: number;
}

/** `koine identity rotate`. */
export async function rotateKeys(file: string, options: RotateOptions): Promise<void> {
  const rotation = { overlapMs: options.overlap, kinds: kindsOf(options.kind) };
  await show(file, await changeIdentity(file, (identity) => identity.rotated(rotation)), options);
}

/** `koine identity revoke`. */
export async function revokeKey(file: string, key: string, options: OutputOptions): Promise<void> {
  const changed = await changeIdentity(file, (identity) =>
    identity.revoked(key.startsWith("did:") ? key : `${identity.did}#${key.replace(/^#/, "")}`),
  );
  await show(file, changed, options);
}

function kindsOf(kinds: readonly string[] | undefined): readonly KeyKind[] | undefined {
  return kinds?.map((kind) => {
    if (isKeyKind(kind)) return kind;
    throw usageError(`--kind ${kind}: there is no such kind of key`, "There are: Ed25519, P-256, secp256k1, X25519");
  });
}

async function show(file: string, identity: LocalIdentity, { output: format }: OutputOptions): Promise<void> {
  const output = createOutput(format);
  const now = Date.now();
  const { name, did } = identity;
  const address = didWebUrl(did);
  const keys = identity.history().map((key) => ({
    id: key.id,
    kind: key.kind,
    uses: key.uses,
    state: stateOf(key, now),
    fingerprint: keyFingerprint(key),
    multikey: encodeMultikey(key),
    ...datesOf(key),
  }));
  if (format === "json")
    return output.document({ file, name, did, ...(address === undefined ? {} : { publishAt: address }), keys });
  const lines = [`${name}  ${did}`, ...(address === undefined ? [] : [`publish at  ${address}`]), ""];
  for (const { id, kind, uses, state, fingerprint, multikey, ...dates } of keys) {
    lines.push(`${id.slice(did.length)}  ${kind}  ${state}`, `  for          ${uses.join(", ")}`);
    lines.push(`  fingerprint  ${fingerprint}`, `  multikey     ${multikey}`);
    lines.push(...Object.entries(dates).map(([what, date]) => `  ${what.padEnd(11)}  ${date}`));
  }
  await output.text(`${lines.join("\n")}\n`);
}

type Key = ReturnType<LocalIdentity["history"]>[number];

function stateOf(key: Key, now: number): "active" | "rotated" | "expired" | "revoked" {
  if (key.revoked !== undefined) return "revoked";
  if (!key.isValid(now)) return "expired";
  return key.rotated === undefined ? "active" : "rotated";
}

function datesOf({ created, rotated, expires, revoked }: Key): { readonly [name: string]: string } {
  const dates = Object.entries({ created, rotated, expires, revoked });
  return Object.fromEntries(dates.flatMap(([name, ms]) => (ms === undefined ? [] : [[name, new Date(ms).toISOString()]])));
}
