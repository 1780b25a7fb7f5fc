import { ARTIFACT_MEMBER, isObject, type Maybe, type Metadata, type Part } from "../envelope/index.js";

/** The original part, so that the receiver can restore and verify it. */
export interface Reference {
  readonly kind: "text" | "data" | "raw";
  readonly bytes: number;
  readonly sha256: string;
}

/** The URL part that replaces a moved part. */
export function writeReference(part: Part, url: string, reference: Reference): Part {
  const { mediaType, name, metadata } = part;
  const { kind, bytes, sha256 } = reference;
  return {
    kind: "url",
    url,
    mediaType,
    name,
    metadata: { ...metadata, [ARTIFACT_MEMBER]: { kind, bytes, sha256 } },
  };
}

/** Undefined for a part without a valid reference. */
export function readReference(part: Part): Maybe<Reference> {
  const member = part.metadata?.[ARTIFACT_MEMBER];
  if (!isObject(member)) return undefined;
  const { kind, bytes, sha256 } = member;
  if (kind !== "text" && kind !== "data" && kind !== "raw") return undefined;
  if (typeof bytes !== "number" || !Number.isSafeInteger(bytes) || bytes < 0) return undefined;
  return typeof sha256 === "string" && /^[0-9a-f]{64}$/.test(sha256) ? { kind, bytes, sha256 } : undefined;
}

/** The author's own metadata. */
export function withoutReference(metadata: Maybe<Metadata>): Maybe<Metadata> {
  if (metadata === undefined || !Object.hasOwn(metadata, ARTIFACT_MEMBER)) return metadata;
  const own = Object.entries(metadata).filter(([name]) => name !== ARTIFACT_MEMBER);
  return own.length === 0 ? undefined : Object.fromEntries(own);
}
