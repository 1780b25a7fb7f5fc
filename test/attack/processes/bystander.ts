import { readFileSync } from "node:fs";
import { Agent, get } from "node:https";
import { createInterface } from "node:readline";

/**
 * A caller that has nothing to do with an attack: it asks for `/health` over one connection, again and again, in a process of its own.
 * For a line `mark` it prints what it noticed since the last one.
 */
export interface Noticed {
  /** The longest wait for an answer, in milliseconds. It depends on what else the machine does. */
  readonly longest: number;
  /** The most that the server's main thread ran during one wait, in milliseconds: how long it kept this caller waiting itself. */
  readonly busiest: number;
  readonly answers: number;
  readonly failures: number;
}

const PAUSE_MS = 5;
const [url = "", ca = "", pid = ""] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: readFileSync(ca) });
const NOTHING: Noticed = { longest: 0, busiest: 0, answers: 0, failures: 0 };
let noticed = NOTHING;
let asked: { readonly at: number; readonly ran: number } | undefined;

/** Milliseconds that the main thread of the server has run. */
function ranMs(): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1_000_000;
  } catch {
    return Number.NaN; // it has ended, which the answers show
  }
}

function ask(): void {
  asked = { at: performance.now(), ran: ranMs() };
  const request = get(`${url}/health`, { agent }, (response) => {
    response.resume().on("end", () => answered(response.statusCode === 200));
  });
  request.on("error", () => answered(false));
}

function answered(good: boolean): void {
  const { answers, failures } = noticed;
  noticed = { ...waits(), answers: answers + (good ? 1 : 0), failures: failures + (good ? 0 : 1) };
  asked = undefined;
  setTimeout(ask, PAUSE_MS);
}

/** Including the answer that is still awaited. */
function waits(): Pick<Noticed, "longest" | "busiest"> {
  const { longest, busiest } = noticed;
  if (asked === undefined) return { longest, busiest };
  return { longest: Math.max(longest, performance.now() - asked.at), busiest: Math.max(busiest, ranMs() - asked.ran) };
}

createInterface({ input: process.stdin }).on("line", () => {
  const { longest, busiest } = waits();
  process.stdout.write(`${JSON.stringify({ ...noticed, longest: Math.round(longest), busiest: Math.round(busiest) })}\n`);
  noticed = NOTHING;
});
ask();
