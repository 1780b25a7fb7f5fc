/** A ring in which one question is answered twice: who is asked first waits with its answer until another agent was asked, too. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { shardRing } from "../../../bench/protocols/behaviours/shard-ring.js";
import { runAgentProcess } from "../../../bench/protocols/processes/agent-process.js";

const QUESTION = 0;

runAgentProcess({
  "shard-ring": async (context) => {
    const ring = await shardRing(context);
    const [first, second] = ["first", "second"].map((name) => join(context.stateFolder, "..", name));
    return {
      started: () => ring.started?.(),
      stopped: () => ring.stopped?.(),
      async handle(message, signal) {
        if (message.seq === QUESTION && first !== undefined && second !== undefined) {
          if (existsSync(first)) writeFileSync(second, context.name);
          else {
            writeFileSync(first, context.name);
            while (!existsSync(second)) await pause(5, undefined, { signal });
          }
        }
        return ring.handle(message, signal);
      },
    };
  },
});
