import type { ClientHttp2Session } from "node:http2";
import { connect, isIP, type LookupFunction, type Socket } from "node:net";
import { AgentError, type Maybe } from "../../envelope/index.js";
import { connectionProblem, noConnection } from "./connection-problem.js";
import { http2, tls as tlsModule } from "./lazy-module.js";
import type { ClientTls } from "./tls.js";

export interface DialOptions {
  /** Scheme and authority. */
  readonly origin: string;
  /** Host and port, for messages. */
  readonly host: string;
  readonly connectTimeoutMs: number;
  readonly headerBytes: number;
  readonly lookup: Maybe<LookupFunction>;
  readonly tls: Maybe<ClientTls>;
}

/** Flow-control window: how much of a response a peer may send ahead of the reader. */
const STREAM_WINDOW_BYTES = 256 * 1024;
const CONNECTION_WINDOW_BYTES = 1024 * 1024;

/**
 * Opens an HTTP/2 connection and waits for the peer's settings. No request is sent before: until then the peer may speak another
 * protocol or refuse the certificate, and its stream limit is unknown.
 */
export function dialHttp2(options: DialOptions): Promise<ClientHttp2Session> {
  const { TLSSocket } = tlsModule();
  return new Promise((resolve, reject) => {
    const socket = openSocket(options);
    let session: ClientHttp2Session | undefined;
    const fail = (error: Error): void => {
      clearTimeout(timer);
      socket.destroy();
      session?.destroy();
      const secure = socket instanceof TLSSocket;
      reject(connectionProblem(error, { host: options.host, secure, progress: "waiting" }));
    };
    const cut = (): void => fail(noConnection("ECONNRESET"));
    const timer = setTimeout(() => fail(noConnection("ETIMEDOUT")), options.connectTimeoutMs);
    socket.on("error", fail).on("close", cut);
    socket.once(socket instanceof TLSSocket ? "secureConnect" : "connect", () => {
      if (socket instanceof TLSSocket && socket.alpnProtocol !== "h2") {
        fail(new AgentError("bad_peer", `${options.host} does not offer HTTP/2, which gRPC needs`, { sent: "no" }));
        return;
      }
      const opened = openSession(socket, options);
      session = opened;
      opened.on("error", fail);
      opened.once("remoteSettings", () => {
        clearTimeout(timer);
        socket.off("error", fail).off("close", cut);
        opened.off("error", fail).on("error", ignore);
        resolve(opened);
      });
    });
  });
}

function openSocket({ origin, lookup, tls }: DialOptions): Socket {
  const { protocol, hostname, port } = new URL(origin);
  const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  const secure = protocol === "https:";
  const where = { host, port: port === "" ? (secure ? 443 : 80) : Number(port), noDelay: true };
  const to = lookup === undefined ? where : { ...where, lookup };
  if (!secure) return connect(to);
  return tlsModule().connect({ ...tls, ...to, ALPNProtocols: ["h2"], ...(isIP(host) === 0 ? { servername: host } : undefined) });
}

function openSession(socket: Socket, { origin, headerBytes }: DialOptions): ClientHttp2Session {
  const session = http2().connect(origin, {
    createConnection: () => socket,
    settings: { enablePush: false, maxHeaderListSize: headerBytes, initialWindowSize: STREAM_WINDOW_BYTES },
    maxReservedRemoteStreams: 0,
  });
  session.once("connect", () => session.setLocalWindowSize(CONNECTION_WINDOW_BYTES));
  return session;
}

/** Later session errors are reported by its streams. */
function ignore(): void {}
