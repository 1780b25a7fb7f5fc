import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, createServer as createHttp2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { PassThrough, type Readable } from "node:stream";
import { Pool } from "undici";
import type { HttpVersion } from "./wires/wire.js";

/** The baseline: a reverse proxy that pipes both directions and parses nothing. */
export interface ProxyOptions {
  readonly front: HttpVersion;
  readonly behind: HttpVersion;
  /** Of the agent, for the version of HTTP behind. */
  readonly port: number;
}

export interface Proxy {
  readonly port: number;
  close(): Promise<void>;
}

/** Its connections wait for their turn, on a busy machine for longer than the 5 s of Node: the load does not expect them to be closed. */
const KEPT_MS = 120_000;

export async function startProxy({ front, behind, port }: ProxyOptions): Promise<Proxy> {
  const way = behind === 1 ? throughPool(port) : throughSession(port);
  const { forward } = way;
  const server =
    front === 1
      ? createServer({ keepAliveTimeout: KEPT_MS }, frontHttp1(forward))
      : createHttp2Server().on("stream", frontHttp2(forward));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    // A listening TCP server has an address object.
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close();
      await way.close();
    },
  };
}

/** Only headers of the message: the others belong to one connection. */
type Fields = Readonly<Record<string, string>>;

interface Passing {
  readonly method: string;
  readonly path: string;
  readonly fields: Fields;
  readonly body: Readable;
  /** Starts the response; the body is written to the returned stream. */
  answer(status: number, fields: Fields): ServerResponse | ServerHttp2Stream;
}

type Forward = (passing: Passing) => void;

interface Way {
  readonly forward: Forward;
  close(): Promise<void>;
}

function frontHttp1(forward: Forward): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const { method = "", url: path = "" } = request;
    const answer = (status: number, fields: Fields) => response.writeHead(status, fields);
    forward({ method, path, fields: fieldsIn(request.headers), body: request, answer });
  };
}

function frontHttp2(forward: Forward): (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void {
  return (stream, headers) => {
    const { ":method": method = "", ":path": path = "" } = headers;
    stream.on("error", () => {});
    const answer = (status: number, fields: Fields) => {
      stream.respond({ ...fields, ":status": status });
      return stream;
    };
    // The pool destroys a body that it has read to its end, and this one's other half is the answer.
    forward({ method, path, fields: fieldsIn(headers), body: stream.pipe(new PassThrough()), answer });
  };
}

function throughPool(port: number): Way {
  const pool = new Pool(`http://127.0.0.1:${port}`);
  const forward: Forward = ({ method, path, fields, body, answer }) => {
    pool
      .stream({ method, path, headers: fields, body }, ({ statusCode, headers }) => answer(statusCode, fieldsIn(headers)))
      .catch((thrown: unknown) => body.destroy(thrown instanceof Error ? thrown : new Error(String(thrown))));
  };
  return { forward, close: () => pool.destroy() };
}

function throughSession(port: number): Way {
  const session = connect(`http://127.0.0.1:${port}`);
  session.on("error", () => {});
  const forward: Forward = ({ method, path, fields, body, answer }) => {
    const call = session.request({ ...fields, ":method": method, ":path": path });
    call.on("error", () => body.destroy());
    call.on("response", (headers) => call.pipe(answer(Number(headers[":status"]), fieldsIn(headers))));
    body.pipe(call);
  };
  return { forward, close: async () => session.destroy() };
}

const PASSED = ["content-type", "content-length", "accept", "te", "a2a-version", "cache-control"] as const;

function fieldsIn(headers: { readonly [name: string]: unknown }): Fields {
  const passed: Record<string, string> = {};
  for (const name of PASSED) {
    const value = headers[name];
    if (value !== undefined) passed[name] = String(value);
  }
  return passed;
}
