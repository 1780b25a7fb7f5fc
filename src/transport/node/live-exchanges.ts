import type { Socket } from "node:net";

/** A running exchange that must be notified when its socket closes. */
export interface LiveExchange {
  peerDisconnected(): void;
}

const LIVE = Symbol("live exchanges");
type Tracked = Socket & { [LIVE]?: LiveExchange[] };

/** Pipelined requests run concurrently, so their number is bounded. */
const MAX_PIPELINED = 100;

/** Notifies the exchange when the socket closes: one listener per socket instead of one per request. False at the limit. */
export function track(socket: Tracked, exchange: LiveExchange): boolean {
  const live = socket[LIVE];
  if (live === undefined) {
    socket[LIVE] = [exchange];
    socket.on("close", onSocketClose);
    return true;
  }
  if (live.length >= MAX_PIPELINED) return false;
  live.push(exchange);
  return true;
}

export function untrack(socket: Tracked, exchange: LiveExchange): void {
  const live = socket[LIVE];
  if (live === undefined) return;
  if (live[live.length - 1] === exchange) {
    live.pop();
    return;
  }
  const index = live.indexOf(exchange);
  if (index !== -1) live.splice(index, 1);
}

/** True while a request on this socket is unanswered. */
export function hasUnansweredRequests(socket: Tracked): boolean {
  return (socket[LIVE]?.length ?? 0) > 0;
}

function onSocketClose(this: Tracked): void {
  const live = this[LIVE];
  if (live !== undefined) for (const exchange of live.splice(0)) exchange.peerDisconnected();
}
