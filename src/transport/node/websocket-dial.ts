import type { ClientRequest, ClientRequestArgs, IncomingMessage } from "node:http";
import type { LookupFunction, Socket } from "node:net";
import type { ClientOptions, WebSocket } from "ws";
import { AgentError, type Cancel, type Maybe } from "../../envelope/index.js";
import { ByteCollector } from "../body.js";
import type { HttpHeaders, HttpRequest, HttpResponse } from "../exchange.js";
import type { Limits } from "../limits.js";
import { REFUSAL_BYTES, refusedUpgrade } from "../refused-upgrade.js";
import { makeRequest } from "../request.js";
import { upgradeFields } from "../upgrade-request.js";
import { connectionProblem, headersTimedOut, noConnection } from "./connection-problem.js";
import { headersOf } from "./incoming-request.js";
import { webSocket } from "./lazy-module.js";
import type { ClientTls } from "./tls.js";
import { type WebSocketSession, webSocketOptions } from "./websocket-session.js";

export interface WebSocketDialOptions {
  readonly limits: Limits;
  /** Time limit of the whole handshake. */
  readonly connectTimeoutMs: number;
  readonly lookup: Maybe<LookupFunction>;
  readonly tls: Maybe<ClientTls>;
}

/** What is opened, and where. */
export interface WebSocketTarget {
  readonly request: HttpRequest;
  /** With scheme `http` or `https`. */
  readonly url: string;
  readonly subprotocols: readonly string[];
  readonly cancel: Cancel;
  /** Called in the turn of the event loop in which the WebSocket opens: its first message may arrive in the next. */
  create(webSocket: WebSocket, socket: Socket): WebSocketSession;
}

/** A session and how it was opened. */
export interface DialledSession {
  readonly session: WebSocketSession;
  /** The upgrade request as it was sent. */
  readonly final: HttpRequest;
  /** The head of the 101 response. */
  readonly response: HttpResponse;
}

/** Opens a WebSocket. Never follows redirects. Nothing but the upgrade request is sent. */
export function dialWebSocket(target: WebSocketTarget, options: WebSocketDialOptions): Promise<DialledSession> {
  return new Promise((resolve, reject) => new Dial(target, options, resolve, reject).begin());
}

/** One opening handshake. */
class Dial {
  readonly #target: WebSocketTarget;
  readonly #options: WebSocketDialOptions;
  readonly #resolve: (dialled: DialledSession) => void;
  readonly #reject: (error: AgentError) => void;
  readonly #host: string;
  readonly #isSecure: boolean;
  #webSocket: WebSocket | undefined;
  #final: HttpRequest;
  #timer: NodeJS.Timeout | undefined;
  #off: () => void = ignore;
  #isConnected = false;
  #upgraded: { readonly socket: Socket; readonly response: HttpResponse } | undefined;
  /** A response other than 101. */
  #refusal: { readonly res: IncomingMessage; readonly body: ByteCollector } | undefined;
  #isSettled = false;

  constructor(
    target: WebSocketTarget,
    options: WebSocketDialOptions,
    resolve: (dialled: DialledSession) => void,
    reject: (error: AgentError) => void,
  ) {
    this.#target = target;
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#final = target.request;
    this.#isSecure = target.url.startsWith("https:");
    this.#host = target.url.replace(/^https?:\/\//, "").replace(/[/?].*$/s, "");
  }

  begin(): void {
    let opened: WebSocket;
    try {
      opened = this.#open();
    } catch (cause) {
      const problem = cause instanceof Error ? cause.message : String(cause);
      this.#fail(new AgentError("invalid_message", `this upgrade request is not valid: ${problem}`, { sent: "no", cause }));
      return;
    }
    this.#webSocket = opened;
    opened.on("error", (error) => this.#fail(this.#problem(error)));
    opened.on("unexpected-response", (_, res) => this.#refused(res));
    opened.on("upgrade", (res) => {
      this.#upgraded = { socket: res.socket, response: { status: 101, headers: headersOf(res), body: undefined } };
    });
    opened.on("open", () => this.#opened(opened));
    this.#timer = setTimeout(() => this.#timedOut(), this.#options.connectTimeoutMs);
    this.#off = this.#target.cancel.onCancel((reason) => this.#fail(reason));
  }

  #open(): WebSocket {
    const { request, url, subprotocols } = this.#target;
    const { lookup, tls, limits } = this.#options;
    const settings: ClientOptions & ClientRequestArgs & { readonly ALPNProtocols: readonly string[] } = {
      ...tls,
      ...webSocketOptions(limits),
      ...(lookup === undefined ? undefined : { lookup }),
      headers: upgradeFields(request.headers),
      maxHeaderSize: limits.headerBytes,
      followRedirects: false,
      // A WebSocket over HTTP/2 is another protocol.
      ALPNProtocols: ["http/1.1"],
      finishRequest: (sent) => this.#finishRequest(sent),
    };
    return new (webSocket().WebSocket)(url, [...subprotocols], settings);
  }

  /** Nothing is written before the connection is open: `https` would report a failed TLS handshake as a failed write, without its reason. */
  #finishRequest(sent: ClientRequest): void {
    sent.once("socket", (socket) => {
      socket.once(this.#isSecure ? "secureConnect" : "connect", () => {
        this.#isConnected = true;
        this.#send(sent).catch((thrown: unknown) => this.#fail(AgentError.from(thrown)));
      });
    });
  }

  async #send(sent: ClientRequest): Promise<void> {
    const { request, url, cancel } = this.#target;
    const { signer, call, connection } = request;
    const requestOf = (): HttpRequest => makeRequest({ method: "GET", url, headers: fieldsOf(sent), call, cancel, connection });
    this.#final = requestOf();
    if (signer !== undefined) {
      const fields = await signer.sign(this.#final);
      if (this.#isSettled) return;
      for (const [name, value] of Object.entries(fields)) if (value !== undefined) sent.setHeader(name, value);
      this.#final = requestOf();
    }
    sent.end();
  }

  #opened(opened: WebSocket): void {
    const upgraded = this.#upgraded;
    if (upgraded === undefined || this.#isSettled) return;
    this.#settle();
    const session = this.#target.create(opened, upgraded.socket);
    this.#resolve({ session, final: this.#final, response: upgraded.response });
  }

  /** Reads the beginning of the refusal for its message. */
  #refused(res: IncomingMessage): void {
    const body = new ByteCollector(REFUSAL_BYTES);
    this.#refusal = { res, body };
    res.on("data", (piece: Buffer) => {
      if (!body.add(piece)) this.#failRefused();
    });
    res.on("error", ignore);
    res.on("close", () => this.#failRefused());
  }

  #failRefused(): void {
    if (this.#refusal === undefined) return;
    const { res, body } = this.#refusal;
    this.#fail(refusedUpgrade(this.#host, { status: res.statusCode ?? 0, headers: headersOf(res), body: body.whole() }));
  }

  #timedOut(): void {
    const { connectTimeoutMs } = this.#options;
    if (this.#refusal !== undefined) this.#failRefused();
    else if (this.#isConnected) this.#fail(unsent(headersTimedOut(this.#host, connectTimeoutMs)));
    else this.#fail(this.#problem(noConnection("ETIMEDOUT")));
  }

  #problem(cause: Error & { readonly code?: string }): AgentError {
    const host = this.#host;
    const { code = "" } = cause;
    // What `ws` finds wrong with a 101 response has no code.
    if (this.#upgraded !== undefined) return badPeer(`${host} did not complete the handshake: ${cause.message}`, cause);
    if (code === "HPE_HEADER_OVERFLOW") {
      return new AgentError("too_large", `${host} sent response headers that are too large`, { sent: "no", cause });
    }
    if (code.startsWith("HPE_") && code !== "HPE_INVALID_EOF_STATE") {
      return badPeer(`${host} did not answer in HTTP/1.1 (${code})`, cause);
    }
    if (/NO_APPLICATION_PROTOCOL/.test(code)) return badPeer(`${host} does not offer HTTP/1.1, which WebSockets need`, cause);
    const progress = this.#isConnected ? "written" : "waiting";
    return unsent(connectionProblem(cause, { host, secure: this.#isSecure, progress }));
  }

  #fail(error: AgentError): void {
    if (this.#isSettled) return;
    this.#settle();
    // Its own error about that is ignored: this attempt is settled.
    this.#webSocket?.terminate();
    this.#reject(error);
  }

  #settle(): void {
    this.#isSettled = true;
    clearTimeout(this.#timer);
    this.#off();
  }
}

/** The peer may have seen the upgrade request, but no message of the call that needs the session. */
function unsent({ code, message, facts }: AgentError): AgentError {
  return new AgentError(code, message, { ...facts, sent: "no" });
}

function badPeer(message: string, cause: Error): AgentError {
  return new AgentError("bad_peer", message, { sent: "no", cause });
}

function fieldsOf(sent: ClientRequest): HttpHeaders {
  const fields: Record<string, string> = {};
  for (const [name, value] of Object.entries(sent.getHeaders())) if (value !== undefined) fields[name] = String(value);
  return fields;
}

function ignore(): void {}
