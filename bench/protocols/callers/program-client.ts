import { z } from "zod";
import { ProgramLines } from "../processes/program-lines.js";
import type { CallerTask, Program } from "../processes/tasks.js";
import type { Attempt, BenchClient } from "./client.js";

/** What the client program prints for each request. Times are of the machine's monotonic clock, in nanoseconds. */
const REPLY = z.union([
  z.strictObject({ seq: z.number(), answer: z.string(), started: z.number(), done: z.number() }),
  z.strictObject({ seq: z.number(), error: z.string(), timeout: z.boolean(), started: z.number(), done: z.number() }),
]);

/** The client of another implementation, in a process of its own that reads requests as lines and prints answers as lines. */
export async function openProgramClient(task: CallerTask, program: Program): Promise<BenchClient> {
  const { settings, targets, origin, startMs } = task;
  const lines = await ProgramLines.start(program, startMs);
  const waiting = new Map<number, (attempt: Attempt) => void>();
  const ns = (at: number): number => at - Number(origin);
  lines.onLine((line) => {
    const reply = REPLY.parse(line);
    waiting.get(reply.seq)?.(
      "answer" in reply
        ? { answer: reply.answer, stamps: { encodeStart: ns(reply.started) }, done: ns(reply.done), streamEvents: 0 }
        : {
            // It prints no kinds of errors: what is no timeout counts as one of the network.
            error: { text: reply.error, kind: reply.timeout ? "timeout" : "transient", isNetwork: !reply.timeout },
            stamps: { encodeStart: ns(reply.started) },
            done: ns(reply.done),
            streamEvents: 0,
          },
    );
  });
  const ended = lines.ended.then(({ printed }) => {
    const error = { text: `the client program ended: ${printed}`, kind: "final" as const, isNetwork: false };
    for (const settle of waiting.values()) settle({ error, stamps: {}, streamEvents: 0 });
  });
  const urls = new Map(targets.map(({ agent, url }) => [agent, url]));
  const { connectTimeoutMs, messageTimeoutMs } = settings;
  await lines.request({ connect: targets.map(({ url }) => url), timeoutMs: messageTimeoutMs }, connectTimeoutMs);
  return {
    protection: program.protection,
    limits: { connectTimeoutMs, messageTimeoutMs },
    send: ({ seq, agent, payload }) =>
      new Promise<Attempt>((resolve) => {
        waiting.set(seq, (attempt) => {
          waiting.delete(seq);
          resolve(attempt);
        });
        lines.write({ seq, url: urls.get(agent) ?? "", text: payload });
      }),
    async close() {
      lines.stop();
      await ended;
    },
  };
}
