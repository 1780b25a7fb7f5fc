import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { refuseClosing, SHUTDOWN, shuttingDown } from "../refusal.js";
import { SessionGroup } from "../session-group.js";
import type { HttpHandler } from "./http-handler.js";
import { IncomingRequest } from "./incoming-request.js";
import { PendingUpgrade } from "./pending-upgrade.js";
import { refuseMessage } from "./refuse-message.js";
import { SessionAcceptor } from "./session-acceptor.js";
import { owesResponse, refuseHandshake } from "./websocket-handshake.js";

/**
 * Serves WebSocket upgrades. After an upgrade Node neither limits nor closes the connection, so everything from the handshake to the
 * shutdown is done here.
 */
export class UpgradeHandler {
  readonly #handler: HttpHandler;
  readonly #acceptor: SessionAcceptor;
  readonly #sessions = new SessionGroup();
  readonly #pending = new Set<PendingUpgrade>();
  /** Every upgraded socket, the refused ones included. */
  readonly #sockets = new Set<Socket>();
  #isClosing = false;
  #onEmpty: (() => void) | undefined;

  constructor(handler: HttpHandler) {
    this.#handler = handler;
    this.#acceptor = new SessionAcceptor(handler, this.#sessions);
  }

  /** Serves a request that opens a WebSocket. `head`: bytes that followed it. */
  handle(req: IncomingMessage, socket: Socket, head: Buffer): void {
    const handler = this.#handler;
    const address = handler.addressOf(req);
    this.#track(socket);
    if (address === undefined || owesResponse(socket)) {
      socket.destroy();
      return;
    }
    const incoming = new IncomingRequest(req, address, false, handler);
    const upgrade = new PendingUpgrade({ handler, acceptor: this.#acceptor, req, socket, head, incoming });
    const refusal = this.#isClosing ? refuseClosing() : (refuseMessage(req) ?? refuseHandshake(req));
    if (refusal !== undefined) upgrade.refuse(refusal);
    else {
      this.#pending.add(upgrade);
      upgrade.begin(() => this.#pending.delete(upgrade));
    }
  }

  /** Closes sessions that no call holds, the others when their last call ends. Upgrades that wait for a decision are refused. */
  close(): void {
    this.#isClosing = true;
    for (const upgrade of this.#pending) upgrade.withdraw(shuttingDown());
    this.#sessions.shutDown(SHUTDOWN);
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Closes all, and disconnects what is still open after `drainMs`. */
  async drain(): Promise<void> {
    this.close();
    if (this.#sockets.size === 0) return;
    await new Promise<void>((resolve) => {
      const cut = setTimeout(() => this.destroy(), this.#handler.limits.drainMs);
      this.#onEmpty = () => {
        clearTimeout(cut);
        resolve();
      };
    });
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", ignore);
    socket.once("close", () => {
      this.#sockets.delete(socket);
      if (this.#sockets.size === 0) this.#onEmpty?.();
    });
  }
}

/** A broken connection is handled when it closes. */
function ignore(): void {}
