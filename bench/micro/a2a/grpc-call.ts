import { connect } from "node:http2";
import type { RequestTemplate } from "../../harness/http-load.js";
import { COUNTER, MARKER, messageId, TEXT } from "./workload.js";

/** The benchmark message as a gRPC request, encoded by hand, independent of the measured code. */

const SERVICE = "/lf.a2a.v1.A2AService";
export const GRPC_PATH = `${SERVICE}/SendMessage`;
export const GRPC_HEADERS = { "content-type": "application/grpc", te: "trailers", "a2a-version": "1.0" } as const;

/** A compression flag and the length. */
const PREFIX_BYTES = 5;

export type GrpcMethod = "SendMessage" | "SendStreamingMessage";

/** The call, ready for the load process. */
export function grpcTemplate(port: number, method: GrpcMethod): RequestTemplate {
  return { port, path: `${SERVICE}/${method}`, headers: GRPC_HEADERS, body: grpcRequest(), counter: COUNTER, marker: MARKER };
}

/** A length-delimited field of less than 128 × 128 bytes. */
function field(number: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : [(length & 0x7f) | 0x80, length >> 7];
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...size]), content]);
}

/** SendMessageRequest.message (2) with messageId (1), role (4) user, and one part (5) of text (1), in one frame. */
export function grpcRequest(): Buffer {
  const part = field(1, Buffer.from(TEXT));
  const message = Buffer.concat([field(1, Buffer.from(messageId(0))), Buffer.from([0x20, 0x01]), field(5, part)]);
  const request = field(2, message);
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(request.length, 1);
  return Buffer.concat([prefix, request]);
}

/** One call by Node's own client: the lengths of the messages of its answer. Throws unless its status is OK. */
export function probeGrpc(url: string, method: GrpcMethod): Promise<readonly number[]> {
  return new Promise((resolve, reject) => {
    const session = connect(url);
    session.on("error", reject);
    const call = session.request({ ":method": "POST", ":path": `${SERVICE}/${method}`, ...GRPC_HEADERS });
    const pieces: Buffer[] = [];
    let status: unknown;
    const note = (headers: { readonly [name: string]: unknown }): void => {
      status = headers["grpc-status"] ?? status;
    };
    call.on("response", note);
    call.on("trailers", note);
    call.on("data", (piece: Buffer) => pieces.push(piece));
    call.on("error", reject);
    call.on("close", () => {
      session.close();
      const messages = messagesIn(Buffer.concat(pieces));
      if (String(status) === "0" && messages.length > 0) resolve(messages);
      else reject(new Error(`${url}: gRPC status ${String(status)}, ${messages.length} messages`));
    });
    call.end(grpcRequest());
  });
}

/** The length of each message with its prefix, which ends with the length of the rest. */
function messagesIn(body: Buffer): readonly number[] {
  const lengths: number[] = [];
  for (let at = 0; at < body.length; at += lengths.at(-1) ?? 0) lengths.push(PREFIX_BYTES + body.readUInt32BE(at + 1));
  return lengths;
}
