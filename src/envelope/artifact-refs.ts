import type { Envelope } from "./envelope.js";
import type { Maybe } from "./json.js";
import type { Part } from "./part.js";

/** Metadata member that describes the content behind a part's URL. */
export const ARTIFACT_MEMBER = "urn:koine:artifact:1";

/** Of all references of one message. The limit `contextChars` of receivers is above it. */
const REFS_CHARS = 32 * 1024;

/** The addresses of content that was moved out of these parts, for `context.artifactRefs`. Undefined if there are none. */
export function artifactRefsOf(parts: readonly Part[]): Maybe<readonly string[]> {
  let refs: string[] | undefined;
  let chars = 0;
  for (const part of parts) {
    if (part.kind !== "url" || part.metadata?.[ARTIFACT_MEMBER] === undefined) continue;
    chars += part.url.length;
    if (chars > REFS_CHARS) break;
    refs ??= [];
    refs.push(part.url);
  }
  return refs;
}

/** The content with a part for each address of `context.artifactRefs` that no part has. What was signed stays as it is. */
export function withReferredParts({ content, context: { artifactRefs }, proofs }: Envelope): readonly Part[] {
  if (artifactRefs === undefined || artifactRefs.length === 0 || (proofs !== undefined && proofs.length > 0)) return content;
  const known = new Set(content.flatMap((part) => (part.kind === "url" ? [part.url] : [])));
  const added = [...new Set(artifactRefs)].filter((url) => !known.has(url));
  return added.length === 0 ? content : [...content, ...added.map((url): Part => ({ kind: "url", url }))];
}
