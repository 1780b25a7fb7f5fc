import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Intake } from "../exchange.js";
import { DEFAULT_LIMITS } from "../limits.js";
import { HttpHandler } from "./http-handler.js";
import type { RequestListenerOptions } from "./request-listener.js";
import { UpgradeHandler } from "./upgrade-handler.js";
import { opensWebSocket } from "./websocket-handshake.js";

/** A listener of the `upgrade` event of another server. */
export interface UpgradeListener {
  /** False if the request opens no WebSocket here; the socket is then untouched. */
  (req: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /** Closes the sessions: with 1001 as soon as no call holds them, and by force after `drainMs`. */
  close(): Promise<void>;
}

/**
 * An intake as a listener of `server.on("upgrade", …)`, beside `requestListener`. The limits of a session and its shutdown are observed
 * here, because after an upgrade the server does neither.
 */
export function upgradeListener(intake: Intake, options: RequestListenerOptions = {}): UpgradeListener {
  const { limits = DEFAULT_LIMITS, basePath, claims, onError, trustedProxies } = options;
  const handler = new HttpHandler(intake, { limits, basePath, claims, onError, trustedProxies });
  const upgrades = new UpgradeHandler(handler);
  function listener(req: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    if (intake.upgrade === undefined || !opensWebSocket(req)) return false;
    const address = handler.addressOf(req);
    if (address === undefined || !handler.claims(address)) return false;
    upgrades.handle(req, socket as Socket, head); // servers of node:http and node:https have sockets
    return true;
  }
  return Object.assign(listener, { close: () => upgrades.drain() });
}
