import { hashOf } from "../../payload.js";
import type { BenchEvent, RequestEvent } from "../../result/event.js";
import { mean } from "../../result/means.js";
import { measuredIn, type RunEvents } from "../../result/run-events.js";
import { quantile } from "../../statistics/bootstrap.js";
import { judge } from "../judge/judge.js";
import { type Memory, type MemoryStep, memoriesOf } from "../memory/step-memory.js";
import type { PlannedQuestion } from "../plan/planned-question.js";
import type { DocqaRun, Judged } from "./docqa-result.js";

const NS_PER_US = 1_000;
/** Fewer steps by one tool have no outliers. */
const MIN_STEPS = 5;
const FENCE = 3;

/** Judges the answers of one run. Pure. */
export function judgeRun(events: RunEvents, questions: readonly PlannedQuestion[]): DocqaRun {
  const { planned, peerRequests } = events;
  const answered = judgeQuestions(events, questions);
  const judged = answered.map((each) => each.judged);
  const asked = new Set(answered.map(({ seq }) => seq));
  const own = answered.flatMap(({ memory }) => memory ?? []);
  const sent = peerRequests.filter(({ seq }) => seq !== undefined && asked.has(seq));
  const messages = own.flatMap((memory) => memory.messages);
  const average = (values: readonly (number | null)[]) => mean(values.filter((value) => value !== null));
  const hits = (test: (one: Judged) => boolean) => judged.filter(test).length;
  const share = (amount: number) => (judged.length === 0 ? null : amount / judged.length);
  const [correct, complete] = [hits(({ is_correct }) => is_correct), hits(({ is_complete }) => is_complete)];
  return {
    run: planned.run,
    arm: planned.arm,
    condition: planned.condition,
    questions: judged.length,
    correct,
    complete,
    accuracy: share(correct),
    completionRate: share(complete),
    f1: average(judged.map(({ f1 }) => f1)),
    quality: average(judged.map(({ quality_score }) => quality_score)),
    workflowUs: average(judged.map(({ workflowUs }) => workflowUs)),
    communicationUs: average(judged.map(({ communicationUs }) => communicationUs)),
    judged,
    agents: agentsOf(events, own, sent),
    steps: stepsOf(questions, own, sent),
    stragglers: stragglersOf(own.flatMap(({ steps }) => steps)),
    messages: messages.length,
    disturbed: messages.filter(({ delivery }) => delivery !== "delivered").length,
  };
}

/** A measured question of a run, what its team did, and the judgement by rule. */
export interface JudgedQuestion {
  readonly seq: number;
  readonly question: PlannedQuestion;
  /** Undefined: the team left nothing. */
  readonly memory: Memory | undefined;
  readonly judged: Judged;
}

/** In the order in which they were asked. */
export function judgeQuestions(
  { requests, notes }: Pick<RunEvents, "requests" | "notes">,
  questions: readonly PlannedQuestion[],
): readonly JudgedQuestion[] {
  const memories = memoriesOf(notes);
  return requests
    .filter(({ phase, outcome }) => phase === "measure" && outcome !== "dropped")
    .toSorted((a, b) => a.seq - b.seq)
    .map((request) => {
      const [question, memory] = [questionOf(questions, request.seq), memories.get(request.seq)];
      return { seq: request.seq, question, memory, judged: judgeOne(request, question, memory) };
    });
}

/** The judged questions of all runs. Throws Error for events without questions. */
export function judgedIn(events: Iterable<BenchEvent>): readonly (JudgedQuestion & { readonly planned: RunEvents["planned"] })[] {
  const { plan, runs } = measuredIn(events);
  const { questions } = plan;
  if (questions === undefined) throw new Error(`the scenario ${plan.scenario} has no teams whose work could be judged`);
  return runs.flatMap((run) => judgeQuestions(run, questions).map((each) => ({ ...each, planned: run.planned })));
}

function questionOf(questions: readonly PlannedQuestion[], seq: number): PlannedQuestion {
  const found = questions[seq % questions.length];
  if (found === undefined) throw new Error("the plan has no questions");
  return found;
}

function judgeOne(
  request: RequestEvent,
  { id, level, answer: reference, team }: PlannedQuestion,
  memory: Memory | undefined,
): Judged {
  const steps = memory?.steps ?? [];
  const completed = new Set(steps.filter(({ status }) => status === "completed").map(({ step }) => step)).size;
  const planned = team.agents.reduce((sum, agent) => sum + agent.steps.length, 0);
  const answer = answerOf(request, memory);
  const { is_correct, f1, quality_score } = judge(reference, { answer, planned, completed, flawed: steps.length - completed });
  const { send, done } = request.stamps;
  const answered = request.outcome === "answered";
  return {
    task_id: id,
    level,
    answer: answer ?? null,
    is_correct,
    f1,
    quality_score,
    is_complete: completed >= planned,
    workflowUs: answered ? (done - send) / NS_PER_US : null,
    communicationUs: answered ? (done - send - busyNs(steps, send, done)) / NS_PER_US : null,
  };
}

/** The text in the memory, if it is what arrived at the caller: only the hash of that is recorded. */
function answerOf({ outcome, answerHash }: RequestEvent, memory: Memory | undefined): string | undefined {
  const text = memory?.answer;
  return outcome === "answered" && text !== undefined && hashOf(text) === answerHash ? text : undefined;
}

/** The time within a span in which at least one step was being taken. */
function busyNs(steps: readonly MemoryStep[], from: number, to: number): number {
  const spans = steps
    .map(({ timestamps }) => [Math.max(from, timestamps.started_ns), Math.min(to, timestamps.ended_ns)] as const)
    .filter(([start, end]) => end > start)
    .sort((a, b) => a[0] - b[0]);
  let busy = 0;
  let until = from;
  for (const [start, end] of spans) {
    busy += Math.max(0, end - Math.max(start, until));
    until = Math.max(until, end);
  }
  return busy;
}

function durationUs({ timestamps }: MemoryStep): number {
  return (timestamps.ended_ns - timestamps.started_ns) / NS_PER_US;
}

type Sent = RunEvents["peerRequests"];

function agentsOf({ processes, wires }: RunEvents, memories: readonly Memory[], sent: Sent): DocqaRun["agents"] {
  const names = [...new Set(processes.flatMap(({ agents }) => agents))].sort(byNumber.compare);
  const steps = memories.flatMap((memory) => memory.steps);
  return names.map((agent) => {
    const own = steps.filter(({ agent_id }) => agent_id === agent);
    const messages = sent.filter(({ from }) => from === agent);
    const wire = (phase: "measure" | "end") =>
      sum(
        wires
          .filter((each) => each.phase === phase && each.edge.split(">").includes(agent))
          .map((each) => each.sent + each.received),
      );
    return {
      agent,
      steps: own.length,
      failed: own.filter(({ status }) => status === "failed").length,
      stepUs: mean(own.map(durationUs)),
      cpuUs: sum(own.map(({ cpu_us }) => cpu_us)),
      tokens: sum(own.map(({ tokens }) => tokens)),
      messages: messages.length,
      payloadBytes: sum(messages.map(({ payloadBytes, answerBytes }) => payloadBytes + answerBytes)),
      wireBytes: Math.max(0, wire("end") - wire("measure")),
    };
  });
}

const byNumber = new Intl.Collator("en", { numeric: true });

/** Steps of one level are comparable; their numbers mean the same work only within a kind of question. */
function stepsOf(questions: readonly PlannedQuestion[], memories: readonly Memory[], sent: Sent): DocqaRun["steps"] {
  const taken = memories.flatMap((memory) =>
    memory.steps.map((step) => {
      const messages = sent.filter(({ seq, from }) => seq === memory.asked && from === step.agent_id);
      return {
        level: questionOf(questions, memory.asked).level,
        step,
        bytes: sum(messages.map(({ payloadBytes }) => payloadBytes)),
      };
    }),
  );
  const keys = [...new Set(taken.map(({ level, step }) => level * 100 + step.step))].sort((a, b) => a - b);
  return keys.map((key) => {
    const own = taken.filter(({ level, step }) => level * 100 + step.step === key);
    return {
      level: Math.floor(key / 100),
      step: key % 100,
      taken: own.length,
      meanUs: mean(own.map(({ step }) => durationUs(step))),
      cpuUs: mean(own.map(({ step }) => step.cpu_us)),
      tokens: mean(own.map(({ step }) => step.tokens)),
      bytes: mean(own.map(({ bytes }) => bytes)),
    };
  });
}

/** Steps by the same tools take about the same time; those far above are marked. */
function stragglersOf(steps: readonly MemoryStep[]): DocqaRun["stragglers"] {
  const toolsOf = (step: MemoryStep) => step.tool_calls.map(({ tool }) => tool).join(" ");
  return [...new Set(steps.map(toolsOf))].flatMap((tools) => {
    const alike = steps.filter((step) => toolsOf(step) === tools);
    if (alike.length < MIN_STEPS) return [];
    const sorted = alike.map(durationUs).sort((a, b) => a - b);
    const [low, high] = [quantile(sorted, 0.25), quantile(sorted, 0.75)];
    const fenceUs = high + FENCE * (high - low);
    return alike
      .filter((step) => durationUs(step) > fenceUs)
      .map((step) => ({ task_id: step.task_id, step: step.step, agent: step.agent_id, us: durationUs(step), fenceUs }));
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
