import type { Awaitable, JsonObject, Maybe } from "../../../envelope/index.js";
import { ripemd160, sha256 } from "../../../security/hashes.js";
import { encodeBase58 } from "../../../security/identity/base58.js";
import { writeTimestamp } from "../../../transport/timestamp.js";
import { KEY_FRAGMENT, KEY_TYPE } from "./profile.js";
import { pythonJson } from "./python-json.js";

/** `did:all:ADDRESS@HOST:PORT`. The address is that of the key, as in Bitcoin. The host says where the document is; nothing proves it. */
export interface DidAll {
  readonly address: string;
  readonly host: Maybe<string>;
}

const DID_ALL = /^did:all:([1-9A-HJ-NP-Za-km-z]{25,35})(?:@([A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?))?$/;
const CHECKSUM_BYTES = 4;

export function parseDidAll(did: string): Maybe<DidAll> {
  const [, address, host] = DID_ALL.exec(did) ?? [];
  return address === undefined ? undefined : { address, host };
}

/** The address of a P-256 key: base58check of RIPEMD-160 of SHA-256 of its uncompressed point. */
export function addressOf(point: Uint8Array): string {
  const hash = Buffer.concat([Buffer.of(0), ripemd160(sha256(point))]);
  return encodeBase58(Buffer.concat([hash, sha256(sha256(hash)).subarray(0, CHECKSUM_BYTES)]));
}

export function didAllOf(point: Uint8Array, host: Maybe<string>): string {
  return `did:all:${addressOf(point)}${host === undefined ? "" : `@${host}`}`;
}

/** What is proved of such a DID: its key. */
export function provedDid(did: string): string {
  return did.split("@", 1)[0] ?? did;
}

/** The document that the SDK asks for before it opens a session: it reads the address of the service in it. */
export async function didAllDocument(
  did: string,
  point: Uint8Array,
  {
    endpoint,
    nowMs,
    sign,
  }: { readonly endpoint: string; readonly nowMs: number; sign(bytes: Uint8Array): Awaitable<Uint8Array> },
): Promise<JsonObject> {
  const keyId = `${did}#${KEY_FRAGMENT}`;
  // The SDK writes the first byte twice, and drops one when it reads.
  const key = { id: keyId, type: KEY_TYPE, controller: did, publicKeyHex: `04${Buffer.from(point).toString("hex")}` };
  const proof = {
    type: "EcdsaSecp256r1Signature2019",
    created: secondsOf(nowMs),
    proofPurpose: "assertionMethod",
    verificationMethod: keyId,
  };
  const document = {
    "@context": "https://www.w3.org/ns/did/v1",
    id: did,
    controller: did,
    verificationMethod: [key],
    authentication: [key],
    service: [{ id: `${did}#communication`, type: "messageService", router: did, serviceEndpoint: endpoint }],
    proof,
  };
  const signature = await sign(Buffer.from(pythonJson(document)));
  return { ...document, proof: { ...proof, proofValue: Buffer.from(signature).toString("base64url") } };
}

/** `2026-01-02T03:04:05Z`. */
export function secondsOf(ms: number): string {
  return `${writeTimestamp(ms).slice(0, 19)}Z`;
}
