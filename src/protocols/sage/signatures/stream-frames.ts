import { AgentError, type Awaitable, encodeBase64, isObject } from "../../../envelope/index.js";
import { type VerificationKey, verifyBase } from "../../../security/signatures/index.js";
import type { Chunk } from "../../../transport/exchange.js";
import { readJson } from "../../../transport/json.js";
import type { Limits } from "../../../transport/limits.js";
import { readBase64 } from "../../../transport/read-base64.js";
import { encodeSse, sseEvents } from "../../../transport/sse.js";
import { SageError } from "../errors.js";

/**
 * A stream of which every piece is signed for its place: the id of the stream, which the signed head of the response names, and its
 * number. The last frame says that it is the last, so that a stream that was cut is noticed.
 */
interface Frame {
  readonly seq: number;
  /** Empty in the last frame. */
  readonly text: string;
  readonly last: boolean;
}

const utf8 = new TextEncoder();

function signedBytes(id: string, { seq, text, last }: Frame): Uint8Array {
  return utf8.encode(`koine-sage-stream|1\n${id}\n${seq}\n${last ? "last" : "more"}\n${text}`);
}

/** The pieces of a body as signed frames. A body that fails has no last frame. */
export async function* signedFrames(
  body: AsyncIterable<Chunk>,
  id: string,
  sign: (bytes: Uint8Array) => Awaitable<Uint8Array>,
): AsyncGenerator<string, void, void> {
  let seq = 0;
  const framed = async (text: string, last: boolean): Promise<string> => {
    const frame = { seq: seq++, text, last };
    return encodeSse(JSON.stringify({ ...frame, sig: encodeBase64(await sign(signedBytes(id, frame))) }));
  };
  // A character may be cut in two between chunks of bytes.
  const cut = new TextDecoder("utf-8", { fatal: true });
  for await (const chunk of body) {
    const text = typeof chunk === "string" ? chunk : cut.decode(chunk, { stream: true });
    if (text !== "") yield await framed(text, false);
  }
  yield await framed(cut.decode(), true);
}

/** JSON escapes make a piece longer: at most six characters for one. */
const GROWTH = 6;
const FRAME_BYTES = 1_024;

/** The pieces in order. Throws `interrupted` for a stream without its last frame, and ErrInvalidSignature or ErrReplayAttack for others. */
export async function* verifiedFrames(
  body: AsyncIterable<Chunk>,
  id: string,
  { algorithm, key }: VerificationKey,
  limits: Pick<Limits, "sseEventBytes" | "jsonDepth" | "jsonValues">,
): AsyncGenerator<string, void, void> {
  let seq = 0;
  for await (const { data } of sseEvents(body, limits.sseEventBytes * GROWTH + FRAME_BYTES)) {
    const { frame, signature } = readFrame(data, limits);
    if (frame.seq !== seq)
      throw new SageError("stream.order", `piece ${seq} of the stream was expected, and ${frame.seq} came`, { sent: "maybe" });
    seq++;
    if (!verifyBase(algorithm, key, signedBytes(id, frame), signature))
      throw new SageError("sig.bad", `the signature of piece ${frame.seq} of the stream is wrong`, { sent: "maybe" });
    if (frame.text !== "") yield frame.text;
    if (frame.last) return;
  }
  throw new AgentError("interrupted", "the stream was cut: its last piece did not come", {
    sent: "maybe",
    detail: { reason: "stream.cut" },
  });
}

function readFrame(
  data: string,
  limits: Pick<Limits, "jsonDepth" | "jsonValues">,
): { readonly frame: Frame; readonly signature: Uint8Array } {
  const value = readJson(utf8.encode(data), limits);
  const { seq, text, last, sig } = isObject(value) ? value : {};
  if (typeof seq !== "number" || typeof text !== "string" || typeof last !== "boolean" || typeof sig !== "string")
    throw new SageError("message.malformed", "a piece of the stream is not signed", { sent: "maybe" });
  return { frame: { seq, text, last }, signature: readBase64(sig, "sig") };
}
