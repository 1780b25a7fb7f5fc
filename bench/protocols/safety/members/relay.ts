import { createServer, type IncomingMessage, request as requestClear, type ServerResponse } from "node:http";
import { createServer as createTlsServer, request as requestTls } from "node:https";
import { listenLocally, readBody } from "../controls/http.js";
import type { RelayTask } from "./tasks.js";

/** Messages that a relay keeps. */
const KEPT = 1_000;

/**
 * A malicious relay: it has a certificate that callers accept, ends their TLS, passes every request on unchanged, and keeps a copy of
 * everything in its memory.
 */
export async function openRelay({ tls, port, upstream }: RelayTask): Promise<number> {
  const kept: Buffer[] = [];
  const keep = (body: Buffer): Buffer => {
    if (kept.length < KEPT) kept.push(body);
    return body;
  };
  const exchange = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = keep(await readBody(request));
    const { method, url: path, headers } = request;
    const target = { host: "127.0.0.1", port, method, path, headers, agent: false };
    const certificate = upstream && { ca: upstream.ca, ...upstream.certificate };
    const sent = upstream === undefined ? requestClear(target) : requestTls({ ...target, ...certificate });
    sent.on("error", () => response.destroy());
    sent.on("response", (answer) => {
      readBody(answer).then(
        (content) => response.writeHead(answer.statusCode ?? 502, answer.headers).end(keep(content)),
        () => response.destroy(),
      );
    });
    sent.end(body);
  };
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    exchange(request, response).catch(() => response.destroy());
  };
  return listenLocally(tls === undefined ? createServer(listener) : createTlsServer(tls, listener));
}
