import type { Socket } from "node:net";
import { openSocket, type RequestTemplate, writeNumber, writeRequest } from "../../harness/http-load.js";
import { findResponse } from "../../harness/http-response.js";
import { orderOfRound } from "../../harness/rounds.js";
import { median } from "../../harness/statistics.js";

/** Calls of several servers, one at a time and one after the other. */
export interface SingleCalls {
  /** The first is the one that the others are compared with. */
  readonly templates: readonly RequestTemplate[];
  /** Calls of each that count. */
  readonly calls: number;
}

/** One server of a slice. */
export interface CallTimes {
  readonly p50Us: number;
  /** Median of the differences to the call of the first server in the same turn. */
  readonly addedUs: number;
}

/** So many turns of a slice do not count: its connections are new. */
const UNCOUNTED = 2;
/** Goes on from slice to slice, so that no server is always the first of one. */
let turns = 0;

/** Every turn calls each server once, in another order than the turn before. What disturbs the machine disturbs all of them alike. */
export async function runSingleCalls({ templates, calls }: SingleCalls): Promise<readonly CallTimes[]> {
  const arms = await Promise.all(templates.map(async (template) => ({ ...(await openCaller(template)), times: [] as number[] })));
  try {
    for (let turn = 0; turn < UNCOUNTED + calls; turn++) {
      for (const { call, times } of orderOfRound(arms, turns++)) {
        const us = await call();
        if (turn >= UNCOUNTED) times.push(us);
      }
    }
  } finally {
    for (const { socket } of arms) socket.destroy();
  }
  return timesOf(arms.map(({ times }) => times));
}

/** Of each server the times of its calls, the first server first; a place of the lists is one turn. */
export function timesOf(times: readonly (readonly number[])[]): readonly CallTimes[] {
  const [direct = []] = times;
  return times.map((own) => ({
    p50Us: median(own),
    addedUs: median(own.map((us, turn) => us - (direct[turn] ?? Number.NaN))),
  }));
}

interface Caller {
  readonly socket: Socket;
  /** One request and its whole answer, in microseconds. */
  call(): Promise<number>;
}

async function openCaller(template: RequestTemplate): Promise<Caller> {
  const socket = await openSocket(template.port);
  const { bytes, counterAt } = writeRequest(template);
  const marker = Buffer.from(template.marker);
  let settle: { done(us: number): void; fail(reason: Error): void } | undefined;
  let pending: Buffer | undefined;
  let sentAt = 0;
  const fail = (reason: string): void => settle?.fail(new Error(`${template.path}: ${reason}`));
  socket.on("error", ({ message }) => fail(message));
  socket.on("close", () => fail("the server closed the connection"));
  socket.on("data", (chunk: Buffer) => {
    const buffer = pending === undefined ? chunk : Buffer.concat([pending, chunk]);
    const span = findResponse(buffer);
    pending = span === undefined ? buffer : undefined;
    if (span === undefined) return;
    const us = (performance.now() - sentAt) * 1000;
    if (span.status < 200 || span.status > 299 || buffer.indexOf(marker, span.bodyStart) < 0)
      fail(`answered ${buffer.toString("utf8", 0, 2000)}`);
    else settle?.done(us);
  });
  const call = (): Promise<number> =>
    new Promise((done, reject) => {
      settle = { done, fail: reject };
      writeNumber(bytes, counterAt, template.counter.length);
      sentAt = performance.now();
      socket.write(bytes);
    });
  return { socket, call };
}
