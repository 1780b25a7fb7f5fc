import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AgentEvent, answerOf, type Envelope, type Handler, type Operation, type Task } from "../../src/index.js";
import type { Protocol } from "../../src/public/protocols.js";
import { openProtocols } from "../helpers/open-protocols.js";
import { type Bridge, bridge, type Crossing } from "./chain.js";
import { differences, unreported } from "./differences.js";
import { agentContent, ended, message, uuid } from "./samples.js";

/** Every protocol as listener of every protocol, itself included: everything arrives unchanged, or its loss is reported. */

const RUNS = 60;
const PAIRS: readonly (readonly [Protocol, Protocol])[] = openProtocols.flatMap((listener) =>
  openProtocols.map((upstream) => [listener, upstream] as const),
);

/** Source, destination and time are set by each hop if absent; the parent of an answer is the message it answers. */
const OF_EACH_HOP = new Set(["message.ts", "message.src", "message.dst", "message.role"]);

function sendOf(envelope: Envelope, task: "auto" | "always" = "auto"): Operation {
  return { kind: "send", envelope, delivery: "answer", task };
}

function agentSays(request: Operation, content: Pick<Envelope, "content" | "metadata">): AgentEvent {
  if (request.kind !== "send") throw new Error(`asked for ${request.kind}`);
  const { envelope } = request;
  const context = { sessionId: envelope.context.sessionId ?? "7a3c0b52-5d61-4f0e-9b7a-0d6f2c1e8a02", parentId: envelope.id };
  return {
    kind: "message",
    message: {
      ...envelope,
      ...content,
      id: "7a3c0b52-5d61-4f0e-9b7a-0d6f2c1e8a03",
      role: "agent",
      intent: "",
      context,
      meta: {},
      references: undefined,
      extensions: undefined,
    },
  };
}

const pong: Handler = async (operation) =>
  agentSays(operation, { content: [{ kind: "text", text: "pong" }], metadata: undefined });

function receivedEnvelope({ requests: request, error }: Crossing): Envelope {
  const [first] = request;
  if (first?.kind !== "send") throw new Error(`the agent was not asked: ${error}`);
  return first.envelope;
}

/** The plain text of an answer, whether it is one message or a task. */
function answered({ events, error }: Crossing): Envelope["content"] {
  const [event] = events;
  if (event?.kind === "message") return event.message.content;
  if (event?.kind === "task") return answerOf(event.task);
  throw new Error(`no answer: ${error ?? event?.kind}`);
}

describe.each(
  PAIRS.map(([listener, upstream]) => ({ name: `listener ${listener.id}, upstream ${upstream.id}`, listener, upstream })),
)("$name", ({ listener, upstream }) => {
  const ready: Promise<Bridge> = bridge(listener, upstream);

  test("a message arrives whole, or its losses are reported", async () => {
    const { cross } = await ready;
    await fc.assert(
      fc.asyncProperty(message, async (envelope) => {
        const crossing = await cross(sendOf(envelope), pong);
        const places = differences(envelope, receivedEnvelope(crossing), "message").filter((path) => !OF_EACH_HOP.has(path));
        expect(unreported(places, crossing.losses), shown(crossing)).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  test("an answer arrives whole, or its losses are reported", async () => {
    const { cross } = await ready;
    await fc.assert(
      fc.asyncProperty(agentContent, async (words) => {
        const crossing = await cross(sendOf(HELLO), async (operation) => agentSays(operation, words));
        const places = differences(words.content, answered(crossing), "message.content");
        expect(unreported(places, crossing.losses), shown(crossing)).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  test("a completed task arrives with its state and artifacts, or its losses are reported", async () => {
    const { cross } = await ready;
    await fc.assert(
      fc.asyncProperty(ended, uuid, async ({ state, ...rest }, id) => {
        const task: Task = { ...rest, id, contextId: SESSION, status: { state, at: 1_767_323_045_678 }, history: [] };
        const crossing = await cross(sendOf(HELLO, "always"), async () => ({ kind: "task", task }));
        const got = crossing.events[0]?.kind === "task" ? crossing.events[0].task : undefined;
        const places =
          got === undefined
            ? ["task"]
            : differences(
                { id, status: { state }, artifacts: task.artifacts, metadata: task.metadata },
                { id: got.id, status: { state: got.status.state }, artifacts: got.artifacts, metadata: got.metadata },
                "task",
              );
        expect(unreported(places, crossing.losses), shown(crossing)).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });
});

const SESSION = "7a3c0b52-5d61-4f0e-9b7a-0d6f2c1e8a02";
const HELLO: Envelope = {
  id: "7a3c0b52-5d61-4f0e-9b7a-0d6f2c1e8a04",
  ts: 1_767_323_045,
  src: "caller",
  dst: "contract",
  intent: "",
  role: "user",
  content: [{ kind: "text", text: "ping" }],
  context: { sessionId: SESSION },
  meta: {},
};

function shown({ requests: request, events, losses, error }: Crossing): string {
  return JSON.stringify({ request, events, losses, error }, undefined, 1).slice(0, 6_000);
}
