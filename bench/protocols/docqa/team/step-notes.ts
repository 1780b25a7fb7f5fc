import type { BehaviourContext } from "../../behaviours/behaviour.js";
import type { Conversation } from "./conversation.js";
import type { TeamMessage } from "./message.js";
import type { CallRecord } from "./take-step.js";

/** Of a text that is kept in the memory. */
const KEPT_CHARS = 500;
/** Of an answer: a longer one is judged as none. */
const ANSWER_CHARS = 4_000;
/** A rule of thumb, the same in all arms: no tokenizer of a model is asked. */
const CHARS_PER_TOKEN = 4;

/** What happened to a message on arrival. */
export type Delivery = "delivered" | "drop" | "late" | "reorder";

/** Writes the step memory: one note for each step, tool call, message and answer. Nothing is ever changed in it. */
export class StepNotes {
  readonly #context: Pick<BehaviourContext, "note" | "now">;

  constructor(context: Pick<BehaviourContext, "note" | "now">) {
    this.#context = context;
  }

  /** A step begins. */
  step({ own, team }: Conversation, step: number, asked: number) {
    const startedNs = this.#context.now();
    const startedAt = Date.now();
    const cpu = process.cpuUsage();
    let chars = 0;
    return {
      tool: ({ tool, given, result, failure }: CallRecord): void => {
        chars += given.length + result.length;
        this.#context.note("tool", {
          seq: asked,
          values: { step, tool, given: kept(given), result: kept(result), failure: failure ?? null },
        });
      },
      end: (status: "completed" | "failed"): void => {
        const { user, system } = process.cpuUsage(cpu);
        this.#context.note("step", {
          seq: asked,
          values: {
            step,
            agent_id: own.id,
            agent_name: own.name,
            task_id: team.task_id,
            status,
            started_ns: startedNs,
            ended_ns: this.#context.now(),
            started_at: startedAt,
            ended_at: Date.now(),
            cpu_us: user + system,
            tokens: Math.ceil(chars / CHARS_PER_TOKEN),
          },
        });
      },
    };
  }

  /** A message arrived. */
  received(message: Exclude<TeamMessage, { kind: "question" }>, bytes: number, delivery: Delivery): void {
    const { asked, from, kind } = message;
    const content =
      kind === "fact"
        ? { fact: message.fact, value: JSON.stringify(message.value), n: message.n, last: message.last }
        : { fact: "start", value: "null", n: 0, last: true };
    this.#context.note("message", { seq: asked, about: from, values: { ...content, bytes, delivery } });
  }

  answer(taskId: string, asked: number, text: string): void {
    this.#context.note("answer", { seq: asked, values: { task_id: taskId, text: text.slice(0, ANSWER_CHARS) } });
  }
}

function kept(text: string): string {
  return text.slice(0, KEPT_CHARS);
}
