import type { JsonObject, Maybe } from "../../../envelope/index.js";
import { bytesOf } from "../../../transport/body.js";
import type { Chunk } from "../../../transport/exchange.js";
import { DecodeProblem, readObject } from "../../../transport/fields.js";
import { readJson } from "../../../transport/json.js";
import type { Limits } from "../../../transport/limits.js";
import type { ProtocolType } from "./codec.js";

/**
 * A message in its frame. `json`: the JSON alone. `typed`: after the byte of its kind, as the old ANP-06 has it: two bits of kind, six
 * zero bits. `text`: words alone, which is how agents of the old SDK talk.
 */
export type FrameForm = "json" | "typed" | "text";

export interface PlainFrame {
  readonly form: FrameForm;
  /** The kind that its first byte names. */
  readonly type: Maybe<ProtocolType>;
  /** A JSON object, or words of a natural language. */
  readonly content: JsonObject | string;
}

const TYPE_OF_BYTE: ReadonlyMap<number, ProtocolType> = new Map([
  [0x00, "META"],
  [0x40, "APPLICATION"],
  [0x80, "NATURAL"],
] as const);
const BYTE_OF_TYPE = { META: 0x00, APPLICATION: 0x40, NATURAL: 0x80 } as const satisfies Record<ProtocolType, number>;
/** The bits that are zero in the byte of a kind. No JSON begins with such a byte. */
const RESERVED_BITS = 0x3f;
const BRACE = 0x7b;
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Throws DecodeProblem or AgentError. */
export function readFrame(frame: Chunk, limits: Limits): PlainFrame {
  const bytes = bytesOf(frame);
  const [first = 0] = bytes;
  const isTyped =
    typeof frame !== "string" ? (first & RESERVED_BITS) === 0 : first === 0x00 || (first === 0x40 && bytes[1] === BRACE);
  if (bytes.length === 0) throw new DecodeProblem("message", "is empty");
  if (!isTyped) return contentIn(bytes, "json", undefined, limits);
  const type = TYPE_OF_BYTE.get(first);
  if (type === undefined) throw new DecodeProblem("protocol_type", "is not META, APPLICATION or NATURAL");
  return contentIn(bytes.subarray(1), "typed", type, limits);
}

function contentIn(bytes: Uint8Array, form: "json" | "typed", type: Maybe<ProtocolType>, limits: Limits): PlainFrame {
  const isObject = bytes[bytes.findIndex((byte) => byte > 0x20)] === BRACE;
  if (isObject) return { form, type, content: readObject(readJson(bytes, limits), "message") };
  if (type === "META" || type === "APPLICATION") throw new DecodeProblem("message", "must be a JSON object");
  try {
    return { form: form === "json" ? "text" : form, type: type ?? "NATURAL", content: decoder.decode(bytes) };
  } catch {
    throw new DecodeProblem("message", "is not UTF-8");
  }
}

/** A message in the form of another one. */
export function writeFrame(
  content: JsonObject | string,
  { form, type = "APPLICATION" }: Pick<PlainFrame, "form" | "type">,
): Chunk {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  return form === "typed" ? Buffer.concat([Buffer.of(BYTE_OF_TYPE[type]), Buffer.from(text)]) : text;
}
