import { dataPart, type Envelope, isObject, type JsonObject } from "../../../envelope/index.js";
import type { HttpRequest } from "../../../transport/exchange.js";
import { HANDSHAKE } from "../wire.js";

/** A message of a handshake, in the form of an ordinary one: gateways relay it, and cannot read what it agrees on. */
export function handshakeMessage(message: JsonObject, envelope: Omit<Envelope, "content">): Envelope {
  return { ...envelope, content: [dataPart({ handshake: message })] };
}

/** Undefined if there is none. */
export function handshakeIn({ content }: Pick<Envelope, "content">): unknown {
  const [part] = content;
  return part?.kind === "data" && isObject(part.data) ? part.data["handshake"] : undefined;
}

const HANDSHAKE_INTENT = `"intent":"${HANDSHAKE}"`;

/** Whether a request may be a handshake. What is begun as one is refused if it turns out to be something else. */
export function mentionsHandshake({ body, headers }: HttpRequest, contentHeaders: readonly string[]): boolean {
  if (Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes(HANDSHAKE_INTENT)) return true;
  return contentHeaders.some((name) => Buffer.from(headers[name] ?? "", "base64url").includes(HANDSHAKE_INTENT));
}
