import type { TeamAgent } from "../plan/manifest.js";
import type { PlannedQuestion } from "../plan/planned-question.js";
import { Conversation } from "../team/conversation.js";
import { isSeveral } from "../team/disturb.js";
import { takeStep } from "../team/take-step.js";
import { ToolError } from "../tools/tool.js";
import type { Memory, MemoryMessage } from "./step-memory.js";

/** What came out when a question was worked on again from its memory. */
export interface Replay {
  /** Undefined: the final agent could not take its last step with what it had received. */
  readonly answer: string | undefined;
  /** Where the work went another way. Empty for a whole memory. */
  readonly differences: readonly string[];
}

/**
 * Works on a question again without a network, a tool or a model: every agent gets the messages that it received, in that order, and its
 * tools answer as they did. What it then sends must be what was received from it, and the answer the one that was given.
 */
export async function replay(question: PlannedQuestion, memory: Memory): Promise<Replay> {
  const { agents, workflow } = question.team;
  const differences: string[] = [];
  let answer: string | undefined;
  for (const agent of agents) {
    const { conversation, problems } = await replayAgent(question, agent, memory);
    differences.push(...problems, ...otherFacts(conversation, agent, memory));
    const said = conversation.valueOf("answer");
    if (agent.id === workflow.final && typeof said === "string") answer = said;
  }
  return { answer, differences };
}

async function replayAgent({ team, given }: PlannedQuestion, agent: TeamAgent, memory: Memory) {
  const conversation = new Conversation(team, agent, given);
  const recorded = memory.steps.filter((step) => step.agent_id === agent.id).flatMap((step) => step.tool_calls);
  const problems: string[] = [];
  let next = 0;
  const answerAsThen = async (): Promise<string> => {
    const call = recorded[next++];
    if (call === undefined) throw new ToolError("not_found", `${agent.id} makes a tool call that is not in the memory`);
    if (call.failure !== null) throw new ToolError("failed", call.result);
    return call.result;
  };
  const tools = {
    toolbox: { call: answerAsThen },
    complete: answerAsThen,
    signal: new AbortController().signal,
    record: () => undefined,
  };
  const wasStarted = agent.id === team.workflow.final || received(memory, agent.id).length > 0;
  const events = wasStarted ? [undefined, ...received(memory, agent.id)] : [];
  for (const message of events) {
    if (message !== undefined && message.fact !== "start")
      conversation.learn(message.fact, message.value, { last: message.last, several: isSeveral(team, message) });
    for (const step of conversation.take()) {
      const failed = memory.steps.some((each) => each.step === step.step && each.status === "failed");
      await takeStep(step, conversation, tools).catch((thrown: unknown) => {
        if (!(thrown instanceof ToolError)) throw thrown;
        if (!failed) problems.push(thrown.message);
      });
    }
  }
  if (next < recorded.length) problems.push(`${agent.id} no longer makes ${recorded.length - next} of its tool calls`);
  return { conversation, problems };
}

/** Messages from an agent that it would not send now. */
function otherFacts(conversation: Conversation, { id }: TeamAgent, { messages }: Memory): readonly string[] {
  return messages
    .filter(({ from, fact }) => from === id && fact !== "start")
    .filter(({ fact, value, n }) => {
      const now = conversation.valueOf(fact);
      const part = Array.isArray(now) && isSeveral(conversation.team, { from: id, fact }) ? now[n] : now;
      return JSON.stringify(part) !== JSON.stringify(value);
    })
    .map(({ fact, to }) => `${id} sent another ${fact} to ${to}`);
}

/** In the order in which it took them up: one that was held came after the next one about the same fact. */
function received({ messages }: Memory, agent: string): readonly MemoryMessage[] {
  const own = messages.filter(({ to, delivery }) => to === agent && delivery !== "drop" && delivery !== "late");
  const inOrder: MemoryMessage[] = [];
  const held: MemoryMessage[] = [];
  for (const message of own) {
    if (message.delivery === "reorder") held.push(message);
    else {
      inOrder.push(message);
      const at = held.findIndex(({ fact }) => fact === message.fact);
      inOrder.push(...(at < 0 ? [] : held.splice(at, 1)));
    }
  }
  return inOrder;
}
