import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import { A2AService } from "@a2a-js/sdk/server/grpc";
import { status } from "@grpc/grpc-js";
import { sendRequest } from "../wires/grpc.js";
import type { Stage } from "./stage.js";

/** gRPC by hand over HTTP/2: a library does not send what an attacker sends. Valid messages are those of the official SDK. */

const CLIENT_SESSION_MB = 2_000;
const SEND = A2AService.sendMessage.path;
const STREAM = A2AService.sendStreamingMessage.path;
export const METHODS = { send: SEND, stream: STREAM } as const;

export interface GrpcSent {
  readonly path?: string;
  readonly token?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body: Buffer;
  /** Leaves the request open. */
  readonly unfinished?: boolean;
}

/** A connection that knows how many streams the server allows, so that they are opened and not refused. */
export async function openGrpc(stage: Stage): Promise<ClientHttp2Session> {
  const session = connectUnasked(stage);
  await new Promise<void>((resolve) => session.once("remoteSettings", () => resolve()).once("close", resolve));
  return session;
}

/** One that does not wait for what the server allows. */
export function connectUnasked(stage: Stage): ClientHttp2Session {
  const session = connect(stage.url, { ca: stage.authority.ca, maxSessionMemory: CLIENT_SESSION_MB });
  session.on("error", () => undefined);
  return session;
}

/** A message with its prefix; `declared` is the length that it states. */
export function framed(message: Uint8Array, declared = message.length, compressed = 0): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(compressed);
  prefix.writeUInt32BE(declared, 1);
  return Buffer.concat([prefix, message]);
}

/** A request with this text for the agent, by the writer of the official SDK. */
export function messageOf(text: string, agent: string): Buffer {
  return A2AService.sendMessage.requestSerialize({ ...sendRequest(text), tenant: agent } as never); // made for its own types
}

/** Begins a call; undefined if the connection is closed. */
export function beginGrpc(session: ClientHttp2Session, sent: GrpcSent): ClientHttp2Stream | undefined {
  if (session.closed || session.destroyed) return undefined;
  const stream = session.request({
    ":method": "POST",
    ":path": sent.path ?? SEND,
    "content-type": "application/grpc+proto",
    te: "trailers",
    ...(sent.token === undefined ? {} : { authorization: `Bearer ${sent.token}` }),
    ...sent.headers,
  });
  stream.on("error", () => undefined);
  if (sent.unfinished === true) stream.write(sent.body);
  else stream.end(sent.body);
  return stream;
}

/** The status of a call by name, or how its stream ended. The answer is not kept. */
export function endOf(stream: ClientHttp2Stream | undefined): Promise<string> {
  if (stream === undefined) return Promise.resolve("closed");
  return new Promise((resolve) => {
    let code: string | undefined;
    const look = (fields: { readonly [name: string]: unknown }): void => {
      const http = fields[":status"];
      if (http !== undefined && http !== 200) code = `HTTP ${String(http)}`;
      const named = fields["grpc-status"];
      if (named !== undefined) code = status[Number(named)] ?? `status ${String(named)}`;
    };
    stream.on("response", look).on("trailers", look).resume();
    stream.on("close", () => {
      const reset =
        stream.rstCode === undefined || stream.rstCode === constants.NGHTTP2_NO_ERROR ? "closed" : `reset ${stream.rstCode}`;
      resolve(code === "OK" ? "ANSWERED OK" : (code ?? reset));
    });
  });
}

/** The server has read everything that was sent so far, or has closed the connection. */
export function untilRead(session: ClientHttp2Session): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      session.off("close", done);
      resolve();
    };
    session.once("close", done);
    if (session.destroyed || !session.ping(done)) done();
  });
}

/** One call on a connection of its own. */
export async function sendGrpc(stage: Stage, sent: GrpcSent): Promise<string> {
  const session = await openGrpc(stage);
  try {
    return await endOf(beginGrpc(session, sent));
  } finally {
    session.destroy();
  }
}
