import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readH2load } from "../../harness/h2load.js";
import type { RequestTemplate, Turns } from "../../harness/http-load.js";
import type { Worker } from "../../harness/processes.js";
import { percentile } from "../../harness/statistics.js";
import type { Slice, Window } from "../../harness/tally.js";
import { COUNTER, MARKER } from "../a2a/workload.js";
import type { CallTimes, SingleCalls } from "./single-calls.js";
import type { HttpVersion, Sent } from "./wires/wire.js";
import type { LoadRun } from "./workers/load.js";

/** Where requests go, and which. */
export interface Target {
  readonly port: number;
  readonly http: HttpVersion;
  readonly sent: Sent;
}

export interface LoadSlice {
  readonly perSecond: number;
  readonly p50Us: number;
  /** All answers: whatever else is counted belongs to these. */
  readonly completed: number;
}

/** Sends one request again and again, `connections` at a time, each waiting for its answer. */
export type Load = (target: Target, connections: number, window: Window) => Promise<LoadSlice>;

/** Raw sockets in a process of our own: every request has its own number, every answer is read. */
export interface SocketLoad {
  readonly run: Load;
  /** Several targets in turns of a few milliseconds, until the slice is over. */
  turns(targets: readonly Target[], connections: number, sliceMs: number): Promise<readonly LoadSlice[]>;
  /** So many calls of each target, one at a time: the first target, the second, … */
  calls(targets: readonly Target[], calls: number): Promise<readonly CallTimes[]>;
}

export function socketLoad(worker: Worker): SocketLoad {
  return {
    async run(target, connections, window) {
      const order: LoadRun = { template: templateOf(target), connections, window };
      return loadSlice(await worker.ask<Slice>("run", order));
    },
    async turns(targets, connections, sliceMs) {
      const order: Turns = { templates: targets.map(templateOf), connections, sliceMs };
      return (await worker.ask<readonly Slice[]>("turns", order)).map(loadSlice);
    },
    calls(targets, calls) {
      const order: SingleCalls = { templates: targets.map(templateOf), calls };
      return worker.ask("calls", order);
    },
  };
}

function templateOf({ port, sent: { path, headers, body } }: Target): RequestTemplate {
  return { port, path, headers, body, counter: COUNTER, marker: MARKER };
}

function loadSlice({ counted, windowMs, completed, p50Us }: Slice): LoadSlice {
  return { perSecond: (counted / windowMs) * 1000, p50Us, completed };
}

/** A run of the tool that takes longer is considered hung. */
const TOOL_MS = 60_000;
/** No longer is the tool started again to get the answers that were wanted. */
const PATIENCE_MS = 10_000;

/** By h2load, in either version of HTTP: it sees no more of an answer than its status. */
export function toolLoad(core: number | undefined): Load {
  return async (target, connections, { rampMs, windowMs, minAnswers = 1 }) => {
    const until = Date.now() + PATIENCE_MS;
    // Each time twice as long: a slow arm gets as many answers as a fast one before it counts.
    for (let ms = rampMs + windowMs, answers = 0; ; ms *= 2) {
      const slice = await runTool(target, connections, ms, core);
      answers += slice?.completed ?? 0;
      if (slice !== undefined && (answers >= minAnswers || Date.now() > until)) return slice;
      if (Date.now() > until) throw new Error(`${target.sent.path}: no answer within ${PATIENCE_MS} ms`);
    }
  };
}

/** Undefined where the time was too short for a single answer. */
async function runTool(
  { port, http, sent }: Target,
  connections: number,
  ms: number,
  core: number | undefined,
): Promise<LoadSlice | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "koine-bench-gateway-"));
  try {
    const [body, log] = [join(folder, "body"), join(folder, "log")];
    writeFileSync(body, sent.body);
    const fields = Object.entries(sent.headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
    const how = ["-t1", `-c${connections}`, "-m1", `-D${ms}ms`, ...(http === 1 ? ["--h1"] : [])];
    const argv = ["h2load", ...how, `--log-file=${log}`, "-d", body, ...fields, `http://127.0.0.1:${port}${sent.path}`];
    const output = await outputOf(core === undefined ? argv : ["taskset", "-c", `${core}`, ...argv]);
    if (/ 0 done, 0 succeeded, 0 failed, /.test(output)) return undefined;
    const { perSecond, completed } = readH2load(output);
    return { perSecond, completed, p50Us: medianIn(readFileSync(log, "utf8")) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function outputOf([command = "", ...rest]: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, rest, { timeout: TOOL_MS }, (failed, stdout) => (failed === null ? resolve(stdout) : reject(failed)));
  });
}

/** The third column of every line is how long an answer took, in microseconds. */
export function medianIn(log: string): number {
  const times = log.split("\n").flatMap((line) => {
    const time = line.split("\t")[2];
    return time === undefined ? [] : [Number(time)];
  });
  return percentile(Float64Array.from(times).sort(), 0.5);
}
