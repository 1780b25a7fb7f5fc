import { answerCommands } from "../../../harness/worker.js";
import { type ProxyOptions, startProxy } from "../proxy.js";

/** The bare proxy in its own process. */

answerCommands({ start: async (options: ProxyOptions): Promise<number> => (await startProxy(options)).port });
