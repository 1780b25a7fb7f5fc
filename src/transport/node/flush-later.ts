/** A stream that holds back what was written to it. */
export interface Flushable {
  flush(): void;
}

let waiting: Flushable[] = [];
let due: NodeJS.Immediate | undefined;
let isSameTurn = false;

/**
 * Flushes a stream at the end of the next turn of the event loop, together with all others that wrote in this one. What is queued for that
 * turn already runs before: a stream that writes once in a turn is sent every second turn, with two chunks. The end is also where a flush
 * disturbs least, because the requests that peers send on it are read right after it. Call it once for each flush.
 */
export function flushLater(stream: Flushable): void {
  if (waiting.push(stream) === 1) {
    isSameTurn = true;
    setImmediate(endTurn);
  } else if (!isSameTurn) return;
  // Behind whatever was queued since the stream before. Not behind what later turns queue: the flush would never come.
  clearImmediate(due);
  due = setImmediate(flushAll);
}

function endTurn(): void {
  isSameTurn = false;
}

function flushAll(): void {
  const streams = waiting;
  waiting = [];
  for (const stream of streams) stream.flush();
}
