import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { type AgentError, type Cancel, CancelSource, type Maybe } from "../../envelope/index.js";
import type { Connection, HttpHeaders } from "../exchange.js";
import type { JsonLimits } from "../json.js";
import { isLoopbackAddress, wasForwarded } from "../loopback.js";
import { splitTarget } from "../request.js";
import { ServerRequest } from "../server-request.js";
import { proxiedBy } from "./proxy-header.js";
import type { ProxyTrust } from "./trusted-proxies.js";

/** The address of a request, below the mount point. */
export interface Address {
  /** As sent, including the mount point. */
  readonly url: string;
  readonly path: string;
  readonly query: string;
}

/** What precedes the body. Node's HTTP/1.1 message implements it. */
export interface MessageHead {
  readonly method?: Maybe<string>;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly socket: Socket;
}

/** What the requests of one listener have in common. */
export interface RequestContext {
  readonly limits: JsonLimits;
  /** The proxies in front. Undefined: none, so the caller is whoever opened the socket. */
  readonly proxies: ProxyTrust | undefined;
}

/** A request as Node received it. Expensive members are computed on demand. */
export class IncomingRequest extends ServerRequest {
  readonly headers: HttpHeaders;
  readonly #head: MessageHead;
  readonly #address: Address;
  #cancel: CancelSource | undefined;
  #disconnected: AgentError | undefined;
  readonly #proxies: ProxyTrust | undefined;
  #connection: Connection | undefined;

  constructor(head: MessageHead, address: Address, hasBody: boolean, { limits, proxies }: RequestContext) {
    super(limits, hasBody);
    this.headers = headersOf(head);
    this.#head = head;
    this.#address = address;
    this.#proxies = proxies;
  }

  get method(): string {
    return this.#head.method ?? "GET"; // always there on a server's message
  }

  get path(): string {
    return this.#address.path;
  }

  get query(): string {
    return this.#address.query;
  }

  get target(): string {
    const { url } = this.#address;
    if (url.charCodeAt(0) !== 0x2f && url.includes("://")) return url;
    return `${this.connection.secure ? "https" : "http"}://${this.#head.headers.host ?? ""}${url}`;
  }

  get rawHeaders(): readonly string[] {
    return this.#head.rawHeaders;
  }

  get connection(): Connection {
    this.#connection ??= connectionOf(this.#head, this.#proxies);
    return this.#connection;
  }

  get cancel(): Cancel {
    if (this.#cancel === undefined) {
      this.#cancel = new CancelSource();
      if (this.#disconnected !== undefined) this.#cancel.cancel(this.#disconnected);
    }
    return this.#cancel;
  }

  /** The peer has disconnected. */
  peerDisconnected(reason: AgentError): void {
    this.#disconnected = reason;
    this.#cancel?.cancel(reason);
  }
}

/** Node joins repeated fields except `set-cookie`, which does not belong in a request. */
export function headersOf({ headers }: MessageHead): HttpHeaders {
  if (headers["set-cookie"] !== undefined) delete headers["set-cookie"];
  return headers as HttpHeaders; // without set-cookie every value is a string
}

export function addressOf(url: string): Address {
  if (url.charCodeAt(0) !== 0x2f) {
    const { path, query } = splitTarget(url);
    return { url, path, query };
  }
  const mark = url.indexOf("?");
  if (mark === -1) return { url, path: url, query: "" };
  return { url, path: url.slice(0, mark), query: url.slice(mark + 1) };
}

const DIRECT = Symbol("direct connection");
type DirectSocket = Socket & { [DIRECT]?: Connection };

function connectionOf(head: MessageHead, proxies: ProxyTrust | undefined): Connection {
  const { socket, headers } = head;
  if (proxies === undefined && !isSecure(socket)) return directConnection(socket, headers);
  const address = socket.remoteAddress ?? "";
  return {
    remote: proxies === undefined ? address : (proxiedBy(socket)?.source ?? proxies.callerOf(address, headersOf(head))),
    secure: isSecure(socket),
    // Behind a reverse proxy every socket is a loopback socket.
    loopback: isLoopbackAddress(address) && !wasForwarded(headers) && proxies?.trusts(address) !== true,
    clientCertificate: isSecure(socket) && socket.authorized ? certificateOf(socket) : undefined,
    clientCertificateProblem: isSecure(socket) && !socket.authorized ? certificateProblem(socket) : undefined,
  };
}

/** Without TLS and configured proxies it is the same for all requests of a socket, except those that a proxy forwarded. */
function directConnection(socket: DirectSocket, headers: MessageHead["headers"]): Connection {
  let direct = socket[DIRECT];
  if (direct === undefined) {
    const remote = socket.remoteAddress ?? "";
    direct = Object.freeze({ remote, secure: false, loopback: isLoopbackAddress(remote) });
    socket[DIRECT] = direct;
  }
  return direct.loopback && wasForwarded(headers) ? { ...direct, loopback: false } : direct;
}

const CERTIFICATE = Symbol("peer certificate");
type CertifiedSocket = TLSSocket & { [CERTIFICATE]?: Maybe<Uint8Array> };

/** Read once per connection. A resumed session may be authorized without a certificate. */
function certificateOf(socket: CertifiedSocket): Maybe<Uint8Array> {
  if (!(CERTIFICATE in socket)) socket[CERTIFICATE] = socket.getPeerX509Certificate()?.raw;
  return socket[CERTIFICATE];
}

/** Node also has an error for a client without a certificate. */
function certificateProblem(socket: CertifiedSocket): Maybe<string> {
  const { authorizationError } = socket;
  if (!authorizationError || certificateOf(socket) === undefined) return undefined;
  return String(authorizationError); // the code, though it is typed as an Error
}

function isSecure(socket: Socket): socket is TLSSocket {
  return "encrypted" in socket && socket.encrypted === true;
}
