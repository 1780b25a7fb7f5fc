import { dataPart, type Envelope, isObject, type JsonObject } from "../../../envelope/index.js";

/** A message of a handshake, in the form of an ordinary one: gateways relay it, and cannot read what it agrees on. */
export function handshakeMessage(message: JsonObject, envelope: Omit<Envelope, "content">): Envelope {
  return { ...envelope, content: [dataPart({ handshake: message })] };
}

/** Undefined if there is none. */
export function handshakeIn({ content }: Pick<Envelope, "content">): unknown {
  const [part] = content;
  return part?.kind === "data" && isObject(part.data) ? part.data["handshake"] : undefined;
}
