/** An agent process of the benchmark that gives one arm another time limit than the others have. */
import { answerCommands } from "../../../bench/harness/worker.js";
import type { AgentEvent } from "../../../bench/protocols/processes/agent-event.js";
import { openAgents } from "../../../bench/protocols/processes/agent-host.js";
import { NoteSender } from "../../../bench/protocols/processes/notes.js";
import type { AgentHost, AgentStarted, AgentTask } from "../../../bench/protocols/processes/tasks.js";

const notes = new NoteSender<AgentEvent>();
let host: AgentHost | undefined;

answerCommands({
  async start(task: AgentTask): Promise<AgentStarted> {
    const { settings, arm } = task;
    const messageTimeoutMs = arm.control === "same" ? settings.messageTimeoutMs + 1 : settings.messageTimeoutMs;
    host = await openAgents({ ...task, settings: { ...settings, messageTimeoutMs } }, notes, {});
    return { ports: host.ports, configuration: host.configuration };
  },
  flush: () => notes.flush(),
});
