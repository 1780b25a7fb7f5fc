import { agent, openRedisStore, openSqliteStore, type Store, serve } from "../../../../src/index.js";
import { answerCommands } from "../../../harness/worker.js";
import { RESUME_EVENTS, type StartStoreServer } from "../arms.js";

/** Koine as a user has it, on one of its stores. */

answerCommands({ start });

async function start(options: StartStoreServer): Promise<{ readonly url: string; readonly port: number }> {
  const store = await openStore(options);
  const bench = agent({
    name: "bench",
    description: "Makes tasks",
    async *handle(message, task) {
      yield task.working();
      if (message.text !== "long") {
        yield task.artifact(message.text);
        return;
      }
      for (let index = 0; index < RESUME_EVENTS - 3; index++) {
        yield task.artifact("and so on", { id: "result", append: index > 0, last: index === RESUME_EVENTS - 4 });
      }
    },
  });
  const server = await serve(bench, { port: 0, push: false, ...(store === undefined ? {} : { store }) });
  return { url: server.url, port: server.port };
}

async function openStore({ arm, folder, redisUrl }: StartStoreServer): Promise<Store | undefined> {
  if (arm.kind === "memory") return undefined;
  if (arm.kind === "redis") return openRedisStore({ url: redisUrl ?? "" });
  return openSqliteStore({ file: `${folder}/tasks.db`, now: Date.now, synchronous: arm.promise === "full" ? "full" : "normal" });
}
