import { AgentError, type JsonObject, type Maybe } from "../../../envelope/index.js";
import {
  DID_DOCUMENT_LIMITS,
  type DidDocument,
  type DidMethod,
  didWebUrl,
  keyFingerprint,
  listedKeys,
  type PublicKey,
  readDidDocument,
} from "../../../security/identity/index.js";
import { readObject } from "../../../transport/fields.js";
import { readJson } from "../../../transport/json.js";
import { checkProof } from "./document-proof.js";

const PREFIX = "did:wba:";
const DOCUMENT_MS = 5_000;
/** ANP-03 §2.1: the last segment of a path names the key that the DID is bound to. */
const FINGERPRINT = /^(e1|k1)_([A-Za-z0-9_-]{43})$/;

/** The key that a DID is bound to: Ed25519 (`e1`) or secp256k1 (`k1`), by its RFC 7638 thumbprint. */
export interface Binding {
  readonly kind: "e1" | "k1";
  readonly thumbprint: string;
}

export interface DidWbaOptions {
  /** Documents of `localhost` and loopback addresses are fetched by http. Default: false; every document is fetched by https. */
  readonly loopbackHttp?: Maybe<boolean>;
}

/** Where the document of a did:wba is published: as that of a did:web with the same rest. Undefined if the DID is invalid. */
export function didWbaUrl(did: string, { loopbackHttp = false }: DidWbaOptions = {}): Maybe<string> {
  if (!did.startsWith(PREFIX)) return undefined;
  return didWebUrl(`did:web:${did.slice(PREFIX.length)}`, { httpForLoopback: loopbackHttp });
}

export function isDidWba(did: string): boolean {
  return didWbaUrl(did, { loopbackHttp: true }) !== undefined;
}

/** The host of a did:wba, with its port: `agents.example:8443`. */
export function hostOf(did: string): string {
  return (did.slice(PREFIX.length).split(":")[0] ?? "").replace("%3A", ":");
}

/** The path of its document on that host. */
export function documentPath(did: string): string {
  const url = didWbaUrl(did, { loopbackHttp: true });
  return url === undefined ? "" : new URL(url).pathname;
}

/** Undefined for a bare domain and for paths of before fingerprints. */
export function bindingOf(did: string): Maybe<Binding> {
  const [kind, thumbprint] = FINGERPRINT.exec(did.slice(PREFIX.length).split(":").slice(1).at(-1) ?? "")?.slice(1) ?? [];
  return thumbprint === undefined ? undefined : { kind: kind as Binding["kind"], thumbprint }; // by the expression
}

/** What stays the same when the key of a DID changes: everything before the fingerprint (ANP-03 §5). */
export function stableSubject(did: string): string {
  return bindingOf(did) === undefined ? did : did.slice(0, did.lastIndexOf(":"));
}

/** The DID of a key at an address below the domain, such as `did:wba:agents.example:support:e1_…`. */
export function didWbaOf(subject: string, key: Pick<PublicKey, "kind" | "bytes">): string {
  if (key.kind !== "Ed25519" && key.kind !== "secp256k1")
    throw new AgentError("invalid_message", `a did:wba is bound to an Ed25519 or secp256k1 key, not to ${key.kind}`, {
      field: "did",
    });
  return `${subject}:${key.kind === "Ed25519" ? "e1" : "k1"}_${keyFingerprint(key)}`;
}

/** Resolves did:wba: the document is fetched by its address, and must be bound to the DID as the DID says. */
export function didWba(options: DidWbaOptions = {}): DidMethod {
  return {
    method: "wba",
    async resolve(did, fetch, now) {
      const url = didWbaUrl(did, options);
      if (url === undefined)
        throw new AgentError("bad_peer", `${did.slice(0, 200)} is not a valid did:wba${whyNot(did)}`, { sent: "no" });
      const bytes = await fetch(url, { bytes: DID_DOCUMENT_LIMITS.bytes, timeoutMs: DOCUMENT_MS });
      const document = readDidDocument(bytes, did, now);
      checkBinding(did, document);
      return document;
    },
    checkSuccessor,
  };
}

/** Documents of this machine need a setting: its name is what a developer is looking for. */
function whyNot(did: string): string {
  return isDidWba(did) ? ": documents at loopback addresses are fetched only with the setting anp.loopbackHttp" : "";
}

/** ANP-03 §3.3. A document that is out of use has no keys, and proves nothing. */
export function checkBinding(did: string, document: DidDocument): void {
  const binding = bindingOf(did);
  if (binding === undefined || document.deactivated) return;
  const bound = boundKey(document.keys, binding);
  if (bound === undefined) throw new AgentError("bad_peer", `the document of ${did} does not have the key that the DID names`);
  if (binding.kind === "k1") {
    if (!bound.uses.includes("authentication"))
      throw new AgentError("bad_peer", `the document of ${did} does not list the key that the DID names for authentication`);
    return;
  }
  checkProof(documentIn(document), bound);
}

/**
 * ANP-03 §5: the successor is the same subject with another key, and the key that the retired DID is bound to signed that. Whoever
 * controls the web server alone could otherwise hand the name to somebody else.
 */
function checkSuccessor(document: DidDocument, successor: string, now: number): void {
  const { id } = document;
  const binding = bindingOf(id);
  if (binding === undefined) throw new AgentError("bad_peer", "it is bound to no key, so that nothing proves its successor");
  if (!isDidWba(successor) || stableSubject(successor) !== stableSubject(id) || bindingOf(successor) === undefined)
    throw new AgentError("bad_peer", `the successor is not at ${stableSubject(id)}`);
  const bound = boundKey(listedKeys(document, now), binding);
  if (bound === undefined) throw new AgentError("bad_peer", "its document does not have the key that the DID names");
  checkProof(documentIn(document), bound);
}

function boundKey(keys: readonly PublicKey[], { kind, thumbprint }: Binding): Maybe<PublicKey> {
  return keys.find((key) => didKind(key) === kind && keyFingerprint(key) === thumbprint);
}

function didKind({ kind }: PublicKey): Maybe<Binding["kind"]> {
  return kind === "Ed25519" ? "e1" : kind === "secp256k1" ? "k1" : undefined;
}

/** With all members: the proof covers them. */
function documentIn({ bytes }: DidDocument): JsonObject {
  return readObject(readJson(bytes, DID_DOCUMENT_LIMITS), "");
}
