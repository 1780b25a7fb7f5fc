import { AgentError } from "../../src/index.js";
import { limitedSignal } from "../../src/internal.js";
import { CHECKS } from "./checks.js";
import { type Demo, openDemo } from "./demo.js";
import { SCENES } from "./scenes.js";

/** One line of the checklist. */
export interface CheckedItem {
  readonly what: string;
  readonly ok: boolean;
  /** The observation, or the problem. */
  readonly says: string;
  readonly ms: number;
}

/** Time limit of the whole check. */
const CHECK_MS = 60_000;
/** Reserved for the shutdown. */
const STOP_MS = 5_000;
const TIMEOUT = new AgentError("deadline", `The check exceeded its limit of ${CHECK_MS / 1000} s`);

/** Starts the demo, runs every check and stops it. Yields each result; never throws. */
export async function* checkDemo(port: number, stop: AbortSignal): AsyncGenerator<CheckedItem, void, void> {
  // Not released early: pending checks depend on it.
  const { signal } = limitedSignal(stop, CHECK_MS - STOP_MS);
  const over = aborted(signal, () => (stop.aborted ? AgentError.from(stop.reason) : TIMEOUT));
  const within = <T>(work: Promise<T>): Promise<T> => Promise.race([work, over]);
  const opening = openDemo({ port, signal });
  const opened = await runCheck(
    "all available agents are up and the gateway is open",
    async () => `${(await opening).present().length} agents`,
  );
  yield opened;
  if (!opened.ok) return;
  const running = await opening;
  for (const scene of SCENES) {
    if (signal.aborted || !running.present().includes(scene.agent)) continue;
    const [upstreamPin = scene.pin] = running.network.nodes().flatMap(({ id, pin }) => (id === scene.agent ? [pin] : []));
    yield await runCheck(`${scene.tries}: ${scene.visitor} by ${scene.pin} → ${scene.agent} on ${upstreamPin}`, async () => {
      const { error, says } = await within(running.traffic.play(scene));
      if (error !== undefined) throw error;
      return says;
    });
  }
  for (const { what, check } of CHECKS) if (!signal.aborted) yield await runCheck(what, () => within(check(running)));
  yield await runCheck("no process is left running", () => ended(running));
}

async function runCheck(what: string, work: () => Promise<string>): Promise<CheckedItem> {
  const startedAt = performance.now();
  const after = (): number => Math.round(performance.now() - startedAt);
  try {
    return { what, ok: true, says: await work(), ms: after() };
  } catch (thrown) {
    return { what, ok: false, says: thrown instanceof Error ? thrown.message : String(thrown), ms: after() };
  }
}

/** Rejects on abort; never resolves. */
function aborted(signal: AbortSignal, reason: () => AgentError): Promise<never> {
  const over = new Promise<never>((_resolve, reject) => {
    const end = (): void => reject(reason());
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
  // Avoids an unhandled rejection if nothing awaits it.
  over.catch(() => undefined);
  return over;
}

async function ended(demo: Demo): Promise<string> {
  const pids = demo.network.nodes().flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  await demo.stop();
  const alive = pids.filter(isAlive);
  if (alive.length > 0) throw new AgentError("internal", `Still running: ${alive.join(", ")}`);
  return `${pids.length} processes ended`;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
