import { isObject, type Maybe, type Metadata, type Part } from "../envelope/index.js";

/** The member of a part's metadata that says what stands behind its URL. */
export const ARTIFACT_MEMBER = "urn:koine:artifact:1";

/** What a moved part was, so that the receiver gets the same part back and can prove it. */
export interface Reference {
  readonly kind: "text" | "data" | "raw";
  readonly bytes: number;
  readonly sha256: string;
}

/** The part that travels in place of a moved one. */
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

/** Undefined for a part without one; a member of another form is not ours and proves nothing. */
export function readReference(part: Part): Maybe<Reference> {
  const member = part.metadata?.[ARTIFACT_MEMBER];
  if (!isObject(member)) return undefined;
  const { kind, bytes, sha256 } = member;
  if (kind !== "text" && kind !== "data" && kind !== "raw") return undefined;
  if (typeof bytes !== "number" || !Number.isSafeInteger(bytes) || bytes < 0) return undefined;
  return typeof sha256 === "string" && /^[0-9a-f]{64}$/.test(sha256) ? { kind, bytes, sha256 } : undefined;
}

/** The author's own metadata again. */
export function withoutReference(metadata: Maybe<Metadata>): Maybe<Metadata> {
  if (metadata === undefined || !Object.hasOwn(metadata, ARTIFACT_MEMBER)) return metadata;
  const own = Object.entries(metadata).filter(([name]) => name !== ARTIFACT_MEMBER);
  return own.length === 0 ? undefined : Object.fromEntries(own);
}
