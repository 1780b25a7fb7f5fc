import { connect } from "node:http2";
import { messageId, TEXT } from "./workload.js";

/** The benchmark message as a gRPC request, encoded by hand, independent of the measured code. */

export const GRPC_PATH = "/lf.a2a.v1.A2AService/SendMessage";
export const GRPC_HEADERS = { "content-type": "application/grpc", te: "trailers", "a2a-version": "1.0" } as const;

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
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(request.length, 1);
  return Buffer.concat([prefix, request]);
}

/** One call by Node's own client: how many bytes the answer has. Throws unless its status is OK. */
export function probeGrpc(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const session = connect(url);
    session.on("error", reject);
    const call = session.request({ ":method": "POST", ":path": GRPC_PATH, ...GRPC_HEADERS });
    let bytes = 0;
    let status: unknown;
    const note = (headers: { readonly [name: string]: unknown }): void => {
      status = headers["grpc-status"] ?? status;
    };
    call.on("response", note);
    call.on("trailers", note);
    call.on("data", (piece: Buffer) => {
      bytes += piece.length;
    });
    call.on("error", reject);
    call.on("close", () => {
      session.close();
      if (String(status) === "0" && bytes > 0) resolve(bytes);
      else reject(new Error(`${url}: gRPC status ${String(status)}, ${bytes} bytes`));
    });
    call.end(grpcRequest());
  });
}
