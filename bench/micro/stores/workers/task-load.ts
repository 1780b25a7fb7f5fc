import { Pool } from "undici";
import { type RequestTemplate, runHttpLoad, runHttpTurns } from "../../../harness/http-load.js";
import { median } from "../../../harness/statistics.js";
import type { Slice, Window } from "../../../harness/tally.js";
import { answerCommands } from "../../../harness/worker.js";
import { IN_FLIGHT, RESUME_EVENTS, RESUME_SEEN } from "../arms.js";

/** The load process: raw sockets for sends, and a plain HTTP client for streams that are taken up again. */

const HEADERS = { "content-type": "application/json", "a2a-version": "1.0", accept: "text/event-stream" };
const LONG = JSON.stringify({ message: { messageId: "bench", role: "ROLE_USER", parts: [{ text: "long" }] } });

answerCommands({ run, turns: runHttpTurns, resume });

function run({ template, window }: { readonly template: RequestTemplate; readonly window: Window }): Promise<Slice> {
  return runHttpLoad(template, IN_FLIGHT, window);
}

/** Microseconds from asking for the rest of a finished stream to having it, one after the other; the median of `times`. */
async function resume({ url, times }: { readonly url: string; readonly times: number }): Promise<number> {
  const pool = new Pool(url, { connections: 1 });
  try {
    const stream = await text(pool, "/a2a/message:stream", LONG, {});
    const ids = [...stream.matchAll(/^id: ?(.*)$/gm)].map(([, id = ""]) => id);
    const taskId = /"id":"([^"]+)"/.exec(stream)?.[1] ?? "";
    const cursor = ids[RESUME_SEEN - 1];
    if (ids.length !== RESUME_EVENTS || cursor === undefined) throw new Error(`a stream of ${ids.length} events came`);
    const took: number[] = [];
    for (let time = 0; time < times; time++) {
      const from = performance.now();
      const rest = await text(pool, `/a2a/tasks/${taskId}:subscribe`, "{}", { "last-event-id": cursor });
      took.push((performance.now() - from) * 1000);
      const events = [...rest.matchAll(/^data:/gm)].length;
      // The task at the cursor, then the missed events.
      if (events !== RESUME_EVENTS - RESUME_SEEN + 1) throw new Error(`${events} events came instead of the rest: ${rest}`);
    }
    return median(took);
  } finally {
    await pool.close();
  }
}

async function text(pool: Pool, path: string, body: string, more: Readonly<Record<string, string>>): Promise<string> {
  const answer = await pool.request({ path, method: "POST", headers: { ...HEADERS, ...more }, body });
  const whole = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${whole}`);
  return whole;
}
