import type { Seen } from "./gateway-walk.js";

/** The protocol of an agent or a client, as far as it decides the results. */
export type Speech = "a2a" | "acp" | "agora";

/** How a client's library names two refusals. */
export interface Refusals {
  /** An unknown task. */
  readonly unknown: string;
  /** An agent that returned neither an answer nor a task. */
  readonly noAnswer: string;
}

const PIECES = ["chunk 1 ", "chunk 2 ", "chunk 3 "];
const QUESTION = "what is the answer?";
const ANSWER = "the answer was: 42";
const REASON = "as commanded";
const EMULATED = "(emulated: streaming, tasks)";

/** The expected results of a client with an agent, whatever is in between, in the client's own terms. */
export function expectedAt(client: Speech, agent: Speech, refusals: Refusals): Seen {
  if (client === "agora") return inWords(agent);
  const completed = (words: string): string => `completed: ${words}`;
  // A2A may answer without a task, and does so for an agent without tasks; every answer of ACP is a run.
  const plain = (words: string): string => (client === "a2a" && agent !== "acp" ? words : completed(words));
  const [asks, canceling, canceled] =
    client === "a2a" ? ["input-required", "canceled", "canceled"] : ["awaiting", "cancelling", "cancelled"];
  return {
    ask: plain("you said: hello"),
    task: completed(resultOf(agent).join("|")),
    stream: [...(agent === "agora" ? [EMULATED, PIECES.join("")] : PIECES), "completed"].join("|"),
    input: agent === "agora" ? `${plain(QUESTION)} → ${plain(ANSWER)}` : `${asks}: ${QUESTION} → ${completed(ANSWER)}`,
    cancel: `${canceling}, on the stream ${canceled}, afterwards ${canceled}`,
    error: client === "a2a" && agent === "agora" ? `refused: ${refusals.noAnswer}` : `failed: ${REASON}`,
    unknown: `refused: ${refusals.unknown}`,
  };
}

/** Agora has one answer for one message, which is all its client can see. */
function inWords(agent: Speech): Seen {
  const refused = JSON.stringify({ status: "error", message: REASON, body: REASON });
  return {
    ask: "you said: hello",
    task: resultOf(agent).join("\n"),
    stream: PIECES.join(""),
    input: `${QUESTION} → ${ANSWER}`,
    error: `refused: Error in external conversation: ${refused}`,
  };
}

/** The agent of ACP sends one more message at the end. */
function resultOf(agent: Speech): readonly string[] {
  return agent === "acp" ? ["done", "finished"] : ["done"];
}
