import { connect as connectHttp2 } from "node:http2";
import { type RequestOptions, request } from "node:https";
import { connect, type TLSSocket } from "node:tls";
import type { Stage } from "./stage.js";

/** The beginning of an answer, enough to see who refused what. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Some errors repeat the id of the request before they say what is wrong. */
const SHOWN_BYTES = 256 * 1024;

const CLIENT_SESSION_MB = 2_000;

export interface Sent {
  readonly url: string;
  readonly method?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: Buffer | string;
  readonly token?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly ciphers?: string;
}

/** Sends one request on a connection of its own. An answer counts even if the upload was cut off after it. */
export function send(stage: Stage, { url, method = "POST", headers = {}, body, token, ...tls }: Sent): Promise<Answer> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const options: RequestOptions = {
    method,
    agent: false,
    ca: stage.authority.ca,
    headers: { "content-type": "application/json", ...authorization, ...headers },
    ...tls,
  };
  return new Promise((resolve) => {
    const sent = request(url, options, (response) => {
      let text = "";
      const done = (): void => resolve({ status: response.statusCode ?? 0, body: text });
      response.on("data", (piece: Buffer) => {
        if (text.length < SHOWN_BYTES) text += piece.toString();
      });
      response.on("end", done).on("error", done).on("close", done);
    });
    sent.on("error", (error: NodeJS.ErrnoException) => resolve({ status: 0, body: String(error.code) }));
    sent.end(body);
  });
}

/** Sends the same body in several streams of one HTTP/2 connection: all bodies wait for their last byte together. */
export async function sendOverHttp2(stage: Stage, sent: Sent, times: number): Promise<readonly Answer[]> {
  const { origin, pathname } = new URL(sent.url);
  // Node's client resets the streams of a session that holds more than 10 MB, however much the server would take.
  const session = connectHttp2(origin, { ca: stage.authority.ca, maxSessionMemory: CLIENT_SESSION_MB });
  session.on("error", () => undefined);
  const body = Buffer.from(sent.body ?? "");
  const streams = Array.from({ length: times }, () => {
    const stream = session.request({
      ":method": "POST",
      ":path": pathname,
      "content-type": "application/json",
      authorization: `Bearer ${sent.token ?? ""}`,
      ...sent.headers,
    });
    stream.on("error", () => undefined);
    stream.write(body.subarray(0, -1));
    return stream;
  });
  const answers = streams.map(
    (stream) =>
      new Promise<Answer>((resolve) => {
        let status = 0;
        let text = "";
        stream.on("response", (head) => (status = head[":status"] ?? 0));
        stream.on("data", (piece: Buffer) => (text += text.length < SHOWN_BYTES ? piece.toString() : ""));
        stream.on("close", () => resolve({ status, body: text }));
      }),
  );
  for (const stream of streams) stream.end(body.subarray(-1));
  const all = await Promise.all(answers);
  session.destroy();
  return all;
}

/** Writes these bytes under TLS and reads until the server closes. */
export function sendRaw(stage: Stage, text: string): Promise<Answer> {
  return new Promise((resolve) => {
    const socket = rawSocket(stage);
    let answer = "";
    socket.on("data", (piece: Buffer) => (answer += piece.toString("latin1")));
    socket.on("error", () => undefined);
    socket.on("close", () => resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0), body: answer }));
    socket.on("secureConnect", () => socket.write(text));
  });
}

export function rawSocket(stage: Stage): TLSSocket {
  return connect({ port: stage.port, host: "127.0.0.1", ca: stage.authority.ca, ALPNProtocols: ["http/1.1"] });
}

/** Where the error documents of the protocols have the name of an error, most specific first; else what they say. */
const NAMES = [/"koineCode":"(\w+)"/, /"reason":"(\w+)"/, /"data":\{[^}]*"code":"(\w+)"/, /"message":"([^"]{1,50})/];
const REFUSED = /"error":\s*[{"]|"status":"(error|failed)"/;

/** The name of a refusal: its status, and the name in the error document if there is one. */
export function refusalName({ status, body }: Answer): string {
  const name = NAMES.map((pattern) => pattern.exec(body)?.[1]).find((each) => each !== undefined);
  const refused = status === 0 || status >= 400 || REFUSED.test(body);
  return `${refused ? "" : "ANSWERED "}${status === 0 ? "closed" : status}${name === undefined ? "" : ` ${name}`}`;
}
