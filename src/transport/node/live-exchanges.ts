import type { Socket } from "node:net";

/** Something under way that must hear when its socket closes. */
export interface LiveExchange {
  hangUp(): void;
}

const LIVE = Symbol("what is live on this socket");
type Tracked = Socket & { [LIVE]?: LiveExchange[] };

/** Pipelined requests run side by side, so one connection could start any number of them. */
const PIPELINED = 100;

/** From now on the socket's end is told: one listener per socket instead of one per request. False when it has too many. */
export function track(socket: Tracked, passage: LiveExchange): boolean {
  const live = socket[LIVE];
  if (live === undefined) {
    socket[LIVE] = [passage];
    socket.on("close", onSocketClose);
    return true;
  }
  if (live.length >= PIPELINED) return false;
  live.push(passage);
  return true;
}

export function untrack(socket: Tracked, passage: LiveExchange): void {
  const live = socket[LIVE];
  if (live === undefined) return;
  if (live[live.length - 1] === passage) {
    live.pop();
    return;
  }
  const index = live.indexOf(passage);
  if (index !== -1) live.splice(index, 1);
}

/** True while somebody owes this socket an answer. */
export function isOwedAnAnswer(socket: Tracked): boolean {
  return (socket[LIVE]?.length ?? 0) > 0;
}

function onSocketClose(this: Tracked): void {
  const live = this[LIVE];
  if (live !== undefined) for (const passage of live.splice(0)) passage.hangUp();
}
