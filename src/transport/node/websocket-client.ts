import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import { AgentError, CancelSource, type Maybe } from "../../envelope/index.js";
import type { HttpRequest, Session } from "../exchange.js";
import { SessionGroup } from "../session-group.js";
import { areSubprotocols, httpForm } from "../upgrade-request.js";
import { dialWebSocket, type WebSocketDialOptions } from "./websocket-dial.js";
import { WebSocketSession } from "./websocket-session.js";

export interface WebSocketClientOptions extends WebSocketDialOptions {
  /** Sessions of this client, those being opened included. */
  readonly sessions: number;
  readonly guard: Maybe<(url: string) => void | Promise<void>>;
  readonly onError: Maybe<(thrown: unknown) => void>;
}

/** The sessions of a link. Each has a connection of its own. */
export class WebSocketClient {
  readonly #options: WebSocketClientOptions;
  readonly #sessions = new SessionGroup();
  readonly #opening = new Set<CancelSource>();
  #isClosed = false;

  constructor(options: WebSocketClientOptions) {
    this.#options = options;
  }

  async open(request: HttpRequest, subprotocols: readonly string[]): Promise<Session> {
    const url = httpForm(request.target);
    if (!areSubprotocols(subprotocols)) {
      throw new AgentError("invalid_message", `invalid subprotocols: ${subprotocols.join(", ")}`, { sent: "no" });
    }
    if (this.#isClosed) throw linkClosed();
    const open = this.#sessions.size + this.#opening.size;
    if (open >= this.#options.sessions) throw new AgentError("overloaded", `${open} sessions are already open`, { sent: "no" });
    const cancel = new CancelSource();
    const off = request.cancel.onCancel((reason) => cancel.cancel(reason));
    this.#opening.add(cancel);
    try {
      await this.#options.guard?.(url);
      if (cancel.reason !== undefined) throw cancel.reason;
      return await this.#dial(request, url, subprotocols, cancel);
    } finally {
      off();
      this.#opening.delete(cancel);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const opening of this.#opening) opening.cancel(linkClosed());
    await this.#sessions.drain("the client is closing", this.#options.limits.drainMs);
  }

  async #dial(request: HttpRequest, url: string, subprotocols: readonly string[], cancel: CancelSource): Promise<Session> {
    const create = (webSocket: WebSocket, socket: Socket): WebSocketSession => this.#create(request, webSocket, socket);
    const target = { request, url, subprotocols, cancel, create };
    const { session, final, response } = await dialWebSocket(target, this.#options);
    try {
      await request.signer?.verify?.(response, final);
      if (cancel.reason !== undefined) throw cancel.reason;
    } catch (thrown) {
      session.destroy();
      throw thrown;
    }
    return session;
  }

  #create(request: HttpRequest, webSocket: WebSocket, socket: Socket): WebSocketSession {
    const { limits, onError } = this.#options;
    const session = new WebSocketSession(
      {
        request,
        subprotocol: webSocket.protocol,
        limits,
        accepted: false,
        onError: (thrown) => onError?.(thrown),
        ended: () => this.#sessions.delete(session),
      },
      webSocket,
      socket,
    );
    this.#sessions.add(session);
    return session;
  }
}

function linkClosed(): AgentError {
  return new AgentError("unavailable", "the link is closed", { sent: "no" });
}
