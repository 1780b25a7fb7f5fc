import type { JsonObject } from "../../envelope/index.js";
import { writeTimestamp } from "../../transport/timestamp.js";
import type { DidService } from "./did-document.js";
import type { Identity, KeyUse, PublicKey } from "./identity.js";
import { publishedKeysOf } from "./local-identity.js";
import { encodeMultikey } from "./multikey.js";

/** What is published of a DID. */
export interface DidContent {
  readonly did: string;
  readonly keys: readonly PublicKey[];
  readonly services?: readonly DidService[];
  /** The DID is out of use. */
  readonly deactivated?: boolean;
}

/** The DID document with all keys as Multikeys. */
export function writeDidDocument({ did, keys, services = [], deactivated = false }: DidContent): JsonObject {
  const listed = (use: KeyUse): readonly string[] => keys.filter(({ uses }) => uses.includes(use)).map(({ id }) => id);
  return {
    "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/multikey/v1"],
    id: did,
    ...(deactivated ? { deactivated } : {}),
    verificationMethod: keys.map((key) => ({
      id: key.id,
      type: "Multikey",
      controller: did,
      publicKeyMultibase: encodeMultikey(key),
      ...(key.expires === undefined ? {} : { expires: writeTimestamp(key.expires) }),
    })),
    authentication: listed("authentication"),
    assertionMethod: listed("assertion"),
    keyAgreement: listed("agreement"),
    ...(services.length === 0 ? {} : { service: services.map(({ id, type, url }) => ({ id, type, serviceEndpoint: url })) }),
  };
}

/** The DID document of an identity. Without a key that signs, its DID is out of use. */
export function didDocumentOf(identity: Identity, services: readonly DidService[]): JsonObject {
  const keys = publishedKeysOf(identity);
  const deactivated = !keys.some(({ kind }) => kind !== "X25519");
  return writeDidDocument({ did: identity.did, keys, services, deactivated });
}
