import type { Json } from "./json.js";
import type { Part } from "./part.js";

/** Identifies equal requests by their agent and content. Computed only for requests with an idempotency key. */
export async function requestDigest(agent: string, content: readonly Part[]): Promise<string> {
  const lines = [JSON.stringify(agent)];
  for (const part of content) lines.push(await lineOf(part));
  return sha256(new TextEncoder().encode(lines.join("\n")));
}

async function lineOf(part: Part): Promise<string> {
  const { kind, mediaType = null, name = null, metadata = null } = part;
  return JSON.stringify([kind, mediaType, name, sorted(metadata), await bodyOf(part)]);
}

async function bodyOf(part: Part): Promise<Json> {
  switch (part.kind) {
    case "text":
      return part.text;
    case "url":
      return part.url;
    case "data":
      return sorted(part.data);
    case "raw":
      return sha256(part.bytes);
    default:
      return part satisfies never;
  }
}

/** Objects as key-sorted lists of pairs: member order does not matter. */
function sorted(value: Json | undefined): Json {
  if (value === undefined || value === null || typeof value !== "object") return value ?? null;
  if (Array.isArray(value)) return value.map((item: Json) => sorted(item));
  const pairs = Object.entries(value).filter(([, item]) => item !== undefined);
  pairs.sort(([a], [b]) => (a < b ? -1 : 1));
  return pairs.map(([key, item]) => [key, sorted(item)]);
}

async function sha256(bytes: Uint8Array): Promise<string> {
  // The platform's types require an ArrayBuffer view; these never use shared memory.
  const hash = await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>);
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
