/** An agent process of the benchmark: one listener for each of its agents, one handler, one model. */
import { answerCommands } from "../../harness/worker.js";
import type { ServiceEvent } from "../result/index.js";
import { openAgents } from "./agent-host.js";
import { NoteSender } from "./notes.js";
import type { AgentHost, AgentStarted, AgentTask } from "./tasks.js";

const notes = new NoteSender<ServiceEvent>();
let host: AgentHost | undefined;

answerCommands({
  async start(task: AgentTask): Promise<AgentStarted> {
    host = await openAgents(task, notes);
    return { ports: host.ports, addresses: host.addresses, configuration: host.configuration };
  },
  /** The listeners end, and the process lives on. */
  closeListeners: () => host?.close(),
  reopenListeners: () => host?.reopen(),
  flush: () => notes.flush(),
});
