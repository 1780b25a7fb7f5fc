import { answerCommands } from "../../harness/worker.js";
import type { AgentEvent } from "./agent-event.js";
import { type Behaviours, openAgents } from "./agent-host.js";
import { NoteSender } from "./notes.js";
import type { AgentHost, AgentStarted, AgentTask } from "./tasks.js";

/** Serves agents with these behaviours, as the driver commands. */
export function runAgentProcess(behaviours: Behaviours): void {
  const notes = new NoteSender<AgentEvent>();
  let host: AgentHost | undefined;
  answerCommands({
    async start(task: AgentTask): Promise<AgentStarted> {
      host = await openAgents(task, notes, behaviours);
      return { ports: host.ports, addresses: host.addresses, configuration: host.configuration };
    },
    /** The listeners end, and the process lives on. */
    closeListeners: () => host?.close(),
    reopenListeners: () => host?.reopen(),
    flush: () => notes.flush(),
  });
}
