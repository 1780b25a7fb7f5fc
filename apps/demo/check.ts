import { AgentError } from "../../src/index.js";
import { limitedSignal } from "../../src/internal.js";
import { CHECKS } from "./checks.js";
import { type Demo, openDemo } from "./demo.js";
import { SCENES } from "./scenes.js";

/** One line of the checklist. */
export interface CheckedItem {
  readonly what: string;
  readonly ok: boolean;
  /** What was seen, or what was wrong. */
  readonly says: string;
  readonly ms: number;
}

/** For everything together. */
const CHECK_MS = 60_000;
/** What is always left for ending everything. */
const STOP_MS = 5_000;
const OVER = new AgentError("deadline", `the whole check has ${CHECK_MS / 1000} s, and they are over`);

/** Runs the demo once: starts it, tries everything in it, and ends it. Yields each result as it is known; never throws. */
export async function* checkDemo(port: number, stop: AbortSignal): AsyncGenerator<CheckedItem, void, void> {
  // Held by the timer itself until the time is over: nothing that waits for it may lose it.
  const { signal } = limitedSignal(stop, CHECK_MS - STOP_MS);
  const over = aborted(signal, () => (stop.aborted ? AgentError.from(stop.reason) : OVER));
  const within = <T>(work: Promise<T>): Promise<T> => Promise.race([work, over]);
  const opening = openDemo({ port, signal });
  const opened = await tried(
    "every agent that can be had is up, and the gateway is open",
    async () => `${(await opening).present().length} agents`,
  );
  yield opened;
  if (!opened.ok) return;
  const running = await opening;
  for (const scene of SCENES) {
    if (signal.aborted || !running.present().includes(scene.agent)) continue;
    const [spoken] = running.network.nodes().flatMap(({ id, pin }) => (id === scene.agent ? [pin] : []));
    yield await tried(`${scene.tries}: ${scene.visitor} by ${scene.way} → ${scene.agent} on ${spoken}`, async () => {
      const { error, says } = await within(running.traffic.play(scene));
      if (error !== undefined) throw error;
      return says;
    });
  }
  for (const { what, check } of CHECKS) if (!signal.aborted) yield await tried(what, () => within(check(running)));
  yield await tried("nothing is left running", () => ended(running));
}

async function tried(what: string, work: () => Promise<string>): Promise<CheckedItem> {
  const begun = performance.now();
  const after = (): number => Math.round(performance.now() - begun);
  try {
    return { what, ok: true, says: await work(), ms: after() };
  } catch (thrown) {
    return { what, ok: false, says: thrown instanceof Error ? thrown.message : String(thrown), ms: after() };
  }
}

/** Never resolves. */
function aborted(signal: AbortSignal, reason: () => AgentError): Promise<never> {
  const over = new Promise<never>((_resolve, reject) => {
    const end = (): void => reject(reason());
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
  // Whoever waits for it hears of it; where nobody does, that is no failure.
  over.catch(() => undefined);
  return over;
}

async function ended(demo: Demo): Promise<string> {
  const pids = demo.network.nodes().flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  await demo.stop();
  const alive = pids.filter(isAlive);
  if (alive.length > 0) throw new AgentError("internal", `still running: ${alive.join(", ")}`);
  return `${pids.length} processes have ended`;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
