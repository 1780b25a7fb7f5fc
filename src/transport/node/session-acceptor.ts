import { type IncomingMessage, validateHeaderName, validateHeaderValue } from "node:http";
import type { Socket } from "node:net";
import type { WebSocketServer } from "ws";
import { AgentError } from "../../envelope/index.js";
import type { Upgraded } from "../exchange.js";
import { runSession } from "../intake.js";
import type { SessionGroup } from "../session-group.js";
import { upgradeFields } from "../upgrade-request.js";
import type { ExchangeContext } from "./http-exchange.js";
import type { IncomingRequest } from "./incoming-request.js";
import { webSocket } from "./lazy-module.js";
import { WebSocketSession, webSocketOptions } from "./websocket-session.js";

/** A valid handshake and the socket it arrived on. */
export interface Handshake {
  readonly req: IncomingMessage;
  readonly socket: Socket;
  readonly incoming: IncomingRequest;
}

/** Switches sockets to WebSocket and runs their sessions. */
export class SessionAcceptor {
  readonly #context: ExchangeContext;
  readonly #sessions: SessionGroup;
  #server: WebSocketServer | undefined;
  /** The upgrade whose response `ws` is writing; it does so synchronously. */
  #current: Upgraded | undefined;

  constructor(context: ExchangeContext, sessions: SessionGroup) {
    this.#context = context;
    this.#sessions = sessions;
  }

  /** Responds with 101 and runs the session. False if the peer is gone. Throws before writing if the headers are not valid HTTP. */
  accept({ req, socket, incoming }: Handshake, early: Uint8Array, upgraded: Upgraded): boolean {
    const fields = fieldsOf(upgraded);
    this.#server ??= this.#createServer();
    this.#current = upgraded;
    const addFields = (lines: string[]): void => void lines.push(...fields);
    this.#server.once("headers", addFields);
    let accepted = false;
    this.#server.handleUpgrade(req, socket, Buffer.from(early.buffer, early.byteOffset, early.length), (opened) => {
      accepted = true;
      const { limits } = this.#context;
      const session = new WebSocketSession(
        {
          request: incoming,
          subprotocol: opened.protocol,
          limits,
          accepted: true,
          onError: (thrown) => this.#context.report(thrown),
          ended: () => {
            this.#sessions.delete(session);
            incoming.peerDisconnected(new AgentError("cancelled", "the session ended"));
          },
        },
        opened,
        socket,
      );
      this.#sessions.add(session);
      runSession(upgraded, session, (thrown) => this.#context.report(thrown));
      // Not before: observers are added by now.
      opened.resume();
    });
    this.#server.off("headers", addFields);
    this.#current = undefined;
    return accepted;
  }

  #createServer(): WebSocketServer {
    return new (webSocket().WebSocketServer)({
      ...webSocketOptions(this.#context.limits),
      noServer: true,
      clientTracking: false,
      handleProtocols: () => this.#current?.subprotocol ?? false,
    });
  }
}

/** The fields that a protocol adds to the 101 response, as lines. Those of the handshake are not its own. */
function fieldsOf({ headers }: Upgraded): readonly string[] {
  return Object.entries(upgradeFields(headers)).map(([name, value]) => {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return `${name}: ${value}`;
  });
}
