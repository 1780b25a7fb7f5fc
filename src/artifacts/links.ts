import { createHmac, timingSafeEqual } from "node:crypto";
import { AgentError, type Maybe } from "../envelope/index.js";
import { type ArtifactInfo, isArtifactId, type UploadFacts } from "./store.js";

/** The path of artifacts below the host's base URL. */
export const ARTIFACT_PATH = "/artifacts/";

/** Settings of artifact links. */
export interface LinkOptions {
  /** One per host, at least 32 bytes; links become invalid with it. */
  readonly secret: Uint8Array;
  /** Scheme, host and base path, without a trailing slash. Called per link, because the port may not be known yet. */
  baseUrl(): string;
  now(): number;
  /** Lifetime of a link. Default: that of the artifact. */
  readonly linkMs?: Maybe<number>;
}

/** A valid link. Its owner can only be compared, not read. */
export interface Grant {
  isFor(owner: string): boolean;
}

/** Creates and verifies artifact links. */
export interface ArtifactLinks {
  make(info: ArtifactInfo): string;
  /** Throws `expired` for an expired link of ours, and `not_found` for anything else. */
  check(id: string, query: string): Grant;
  /** The id of an upload: the same for the same content of the same owner, and not to be guessed. */
  uploadId(facts: UploadFacts): string;
}

const SECRET_BYTES = 32;
const MAX_QUERY_CHARS = 512;

/**
 * Links `…/artifacts/{id}?expires=…&owner=…&sig=…`, signed with HMAC-SHA-256. Without `expires` a link is valid as long as its artifact
 * is kept. `owner` is a keyed digest: the peer that receives a link does not learn the owner.
 */
export function createArtifactLinks(options: LinkOptions): ArtifactLinks {
  if (options.secret.length < SECRET_BYTES)
    throw new AgentError("invalid_message", `the secret for artifact links must have at least ${SECRET_BYTES} bytes`);
  // The prefix separates the uses of the secret.
  const mac = (use: "link" | "owner" | "upload", ...fields: readonly string[]): Buffer =>
    createHmac("sha256", options.secret)
      .update(`koine artifact ${use} 1\n${fields.join("\n")}`)
      .digest();
  const ownerTag = (owner: string): string => mac("owner", owner).toString("base64url");

  return {
    make(info) {
      const expires = options.linkMs === undefined ? "" : String(options.now() + options.linkMs);
      const owner = ownerTag(info.owner);
      const sig = mac("link", info.id, expires, owner).toString("base64url");
      return `${options.baseUrl()}${ARTIFACT_PATH}${info.id}?${expires === "" ? "" : `expires=${expires}&`}owner=${owner}&sig=${sig}`;
    },
    check(id, query) {
      const { expires, owner, sig } = readQuery(query);
      if (!isArtifactId(id) || !sameBytes(Buffer.from(sig, "base64url"), mac("link", id, expires, owner))) throw notFound();
      if (expires !== "" && !(options.now() < Number(expires)))
        throw new AgentError("expired", "the link to this artifact has expired");
      return { isFor: (candidate) => sameBytes(Buffer.from(owner), Buffer.from(ownerTag(candidate))) };
    },
    uploadId({ owner, bytes, sha256, mediaType = "", name = "" }) {
      return mac("upload", JSON.stringify([owner, bytes, sha256, mediaType, name])).toString("base64url");
    },
  };
}

/** The same error for forged, foreign and missing artifacts. */
export function notFound(): AgentError {
  return new AgentError("not_found", "no such artifact");
}

function readQuery(query: string): { readonly expires: string; readonly owner: string; readonly sig: string } {
  const found = new Map<string, string>();
  if (query.length <= MAX_QUERY_CHARS) {
    for (const pair of query.split("&")) {
      const equals = pair.indexOf("=");
      found.set(pair.slice(0, equals), pair.slice(equals + 1));
    }
  }
  return { expires: found.get("expires") ?? "", owner: found.get("owner") ?? "", sig: found.get("sig") ?? "" };
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
