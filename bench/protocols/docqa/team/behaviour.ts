import { setTimeout as pause } from "node:timers/promises";
import type { Behaviour, BehaviourContext, Peers, ReceivedMessage } from "../../behaviours/behaviour.js";
import { numbered } from "../../payload.js";
import { writeDocuments } from "../data/documents.js";
import { makeWorld } from "../data/world.js";
import type { TeamStep } from "../plan/manifest.js";
import { finalPrompt } from "../prompts.js";
import { confineProblem } from "../tools/confine.js";
import { ToolError } from "../tools/tool.js";
import { Toolbox } from "../tools/toolbox.js";
import { Conversation } from "./conversation.js";
import { isDisturbed, isSeveral } from "./disturb.js";
import { readMessage, type TeamMessage } from "./message.js";
import { StepNotes } from "./step-notes.js";
import { takeStep } from "./take-step.js";
import { TEAM_DATA, type TeamData } from "./team-data.js";

/** The answer of a team that has not found one in time. */
export const NO_ANSWER = "unknown";
const ACKNOWLEDGED = "ok";
/** A late message comes after so many budgets: the answer is given by then. */
const LATE_BUDGETS = 2;
/** Questions that an agent remembers; the oldest is forgotten first. */
const MAX_CONVERSATIONS = 10_000;

/** One agent of a team: takes its steps when it knows enough, and sends what it finds to those that need it. */
export function teamBehaviour(context: BehaviourContext): Behaviour {
  const data = TEAM_DATA.parse(context.data);
  // Asked before anything is measured: it takes a moment.
  if (data.teams.some(({ team }) => team.required_tools.includes("run_code"))) confineProblem();
  return new Member(context, data);
}

type Task = TeamData["teams"][number];
type PeerMessage = Exclude<TeamMessage, { kind: "question" }>;

/** A question under way. */
interface Open {
  readonly conversation: Conversation;
  /** Messages that wait for the next one. */
  readonly held: PeerMessage[];
  /** Of the agent that answers. */
  answered: ((answer: string) => void) | undefined;
}

class Member implements Behaviour {
  readonly #context: BehaviourContext;
  readonly #data: TeamData;
  readonly #tasks: ReadonlyMap<string, Task>;
  readonly #toolbox: Toolbox;
  readonly #notes: StepNotes;
  readonly #open = new Map<number, Open>();

  constructor(context: BehaviourContext, data: TeamData) {
    this.#context = context;
    this.#data = data;
    this.#tasks = new Map(data.teams.map((task) => [task.team.task_id, task]));
    this.#toolbox = new Toolbox(writeDocuments(makeWorld(data.worldSeed)));
    this.#notes = new StepNotes(context);
  }

  /** Connects ahead to those that it will send to, as soon as they listen. */
  started(): void {
    const { name, peers } = this.#context;
    const flows = [...this.#tasks.values()].flatMap(({ team: { workflow } }) => [
      ...workflow.message_flow,
      ...workflow.start.map((to) => ({ from: workflow.final, to })),
    ]);
    for (const to of new Set(flows.filter(({ from }) => from === name).map((flow) => flow.to))) void connect(peers, to);
  }

  async handle({ text, seq }: ReceivedMessage): Promise<string> {
    const message = readMessage(text);
    const task = message === undefined ? undefined : this.#tasks.get(message.task);
    if (message === undefined || task === undefined) throw new Error("this is no message of a team");
    if (message.kind === "question") return this.#answer(task, seq ?? 0);
    // Acknowledged first: what an agent finds is a message of its own.
    void this.#deliver(task, message, Buffer.byteLength(text));
    return ACKNOWLEDGED;
  }

  /** The centre of the star: starts the others, waits for what it needs, answers. */
  async #answer(task: Task, asked: number): Promise<string> {
    const { task_id: id, workflow } = task.team;
    const open = this.#conversation(task, asked);
    const budget = new AbortController();
    const answered = new Promise<string>((resolve) => {
      open.answered = resolve;
    });
    for (const to of workflow.start) void this.#send(task, to, { kind: "start", task: id, asked, from: this.#context.name });
    void this.#advance(open, asked);
    const late = pause(this.#data.budgetMs, NO_ANSWER, { signal: budget.signal });
    late.catch(() => undefined);
    const answer = await Promise.race([answered, late]);
    budget.abort();
    this.#open.delete(asked);
    this.#notes.answer(id, asked, answer);
    return answer;
  }

  async #deliver(task: Task, message: PeerMessage, bytes: number): Promise<void> {
    const { disturb, budgetMs } = this.#data;
    const isChosen = disturb !== undefined && isDisturbed(message, this.#context.name, task.team, disturb);
    const delivery = isChosen ? disturb.kind : "delivered";
    this.#notes.received(message, bytes, delivery);
    if (delivery === "drop") return;
    if (delivery === "late") await pause(LATE_BUDGETS * budgetMs, undefined, { ref: false });
    const open = this.#conversation(task, message.asked);
    if (delivery === "reorder") return void open.held.push(message);
    this.#learn(open, message);
    await this.#advance(open, message.asked);
  }

  /** A fact that was held is taken up after the next message about it. */
  #learn({ conversation, held }: Pick<Open, "conversation" | "held">, message: PeerMessage): void {
    if (message.kind === "start") return;
    const { fact, value, last, from } = message;
    conversation.learn(fact, value, { last, several: isSeveral(conversation.team, { from, fact }) });
    const at = held.findIndex((each) => each.kind === "fact" && each.fact === fact);
    const [next] = at < 0 ? [] : held.splice(at, 1);
    if (next !== undefined) this.#learn({ conversation, held }, next);
  }

  #conversation({ team, given }: Task, asked: number): Open {
    const found = this.#open.get(asked);
    if (found !== undefined) return found;
    const own = team.agents.find(({ id }) => id === this.#context.name);
    if (own === undefined) throw new Error(`${this.#context.name} is not in the team of ${team.task_id}`);
    const [oldest] = this.#open.keys();
    if (this.#open.size >= MAX_CONVERSATIONS && oldest !== undefined) this.#open.delete(oldest);
    const open: Open = { conversation: new Conversation(team, own, given), held: [], answered: undefined };
    this.#open.set(asked, open);
    return open;
  }

  /** Takes every step that can be taken. A step may make another one possible. */
  async #advance(open: Open, asked: number): Promise<void> {
    const { conversation } = open;
    for (let ready = conversation.take(); ready.length > 0; ready = conversation.take())
      for (const step of ready) await this.#take(open, step, asked);
    // One that answers waits for its budget; the others are done when they have taken all their steps.
    if (conversation.isOver && open.answered === undefined) this.#open.delete(asked);
  }

  async #take(open: Open, step: TeamStep, asked: number): Promise<void> {
    const { conversation } = open;
    const note = this.#notes.step(conversation, step.step, asked);
    try {
      await takeStep(step, conversation, {
        toolbox: this.#toolbox,
        complete: (answer, signal) => this.#complete(conversation, answer, { asked, signal }),
        signal: AbortSignal.timeout(this.#data.budgetMs),
        record: note.tool,
      });
    } catch (thrown) {
      if (!(thrown instanceof ToolError)) throw thrown;
      return note.end("failed");
    }
    note.end("completed");
    await this.#sendFacts(conversation, step, asked);
    const answer = conversation.valueOf("answer");
    if (typeof answer === "string") open.answered?.(answer);
  }

  async #complete(
    { team, own }: Conversation,
    answer: string,
    { asked, signal }: { readonly asked: number; readonly signal: AbortSignal },
  ): Promise<string> {
    const { model, settings } = this.#context;
    if (settings.model === "live" || settings.model === "recorded")
      return (await model.answer(finalPrompt(team, own, answer), signal)).trim();
    // The others echo, after the service time of the request.
    return (await model.answer(numbered(asked, answer), signal)).replace(/^#\d+ /, "");
  }

  /** To each agent one message after the other, the next when the last is acknowledged: so they stay in order. */
  async #sendFacts(conversation: Conversation, step: TeamStep, asked: number): Promise<void> {
    const { team, own } = conversation;
    const given = new Set(step.calls.map(({ gives }) => gives));
    const flows = team.workflow.message_flow.filter(({ from, fact }) => from === own.id && given.has(fact));
    await Promise.all(
      flows.map(async ({ to, fact }) => {
        const value = conversation.valueOf(fact) ?? "";
        const parts = Array.isArray(value) && isSeveral(team, { from: own.id, fact }) ? value : [value];
        for (const [n, part] of parts.entries())
          await this.#send(conversation, to, {
            kind: "fact",
            task: team.task_id,
            asked,
            from: own.id,
            fact,
            value: part,
            n,
            last: n === parts.length - 1,
          });
      }),
    );
  }

  /** A message that cannot be delivered is missed by its addressee, and shows in the events of the run. */
  async #send({ team }: Pick<Task, "team">, to: string, message: PeerMessage): Promise<void> {
    const module = team.agents.find(({ id }) => id === to)?.role;
    await this.#context.peers.send(to, JSON.stringify(message), { seq: message.asked, module });
  }
}

const CONNECT_TRIES = 50;
const CONNECT_PAUSE_MS = 100;

/** A peer may not listen yet. Whoever cannot be reached is tried again with the first message. */
async function connect(peers: Peers, to: string): Promise<void> {
  for (let left = CONNECT_TRIES; left > 0; left--)
    try {
      return await peers.connect(to);
    } catch {
      await pause(CONNECT_PAUSE_MS, undefined, { ref: false });
    }
}
