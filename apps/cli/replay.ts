import { open, stat } from "node:fs/promises";
import { AgentError, type Envelope, type EventOf, type Json, type Operation, textOf } from "../../src/index.js";
import { isPromise } from "../../src/internal.js";
import { cancelFrom, isProtected, startCall } from "../../src/public/protocols.js";
import { foldAnswer } from "./answer-stream.js";
import { NOT_COMPARED } from "./commands/shared-options.js";
import { CliError, EXIT, usageError } from "./exit.js";
import type { Output } from "./output.js";
import { lossReporter, type PeerOptions, type PeerSession, withPeer } from "./peer.js";
import { oneLine } from "./printable.js";
import { type Recorded, readLine } from "./record-lines.js";
import { changedLines, type Difference, differences, type Outcome, outcomeOf, recordedOutcome } from "./replay-diff.js";

interface ReplayOptions extends PeerOptions {
  readonly to: string;
  readonly pin?: string;
  readonly as: string;
  /** False for `--no-diff`. */
  readonly diff: boolean;
}

type Answer = EventOf<"send">;
type Verdict = "same" | "different" | "unrecorded" | "skipped";

interface Exchange {
  readonly request: Recorded;
  readonly answer: Recorded | undefined;
}

interface Replayed {
  readonly exchange: Exchange;
  readonly verdict: Verdict;
  readonly differences: readonly Difference[];
  readonly why?: string;
}

/** Limit of a line. */
const MAX_LINE_CHARACTERS = 64 * 1024 * 1024;
const MAX_EXCHANGES = 1_000_000;
const TEXT_CHARACTERS = 80;
const DIFF_LINES = 40;
const DIFF_CHARACTERS = 400;

export async function replay(path: string, options: ReplayOptions): Promise<void> {
  const exchanges = await readExchanges(path);
  if (exchanges.length === 0) throw usageError(`${path} holds no requests`, "`koine record <gateway> --to FILE` writes some.");
  const { pin } = options;
  await withPeer(options.to, pin === undefined ? options : { ...options, protocol: pin }, async (at) => {
    const ids = new ReplayIds(() => crypto.randomUUID());
    const counts: Record<Verdict, number> = { same: 0, different: 0, unrecorded: 0, skipped: 0 };
    for (const exchange of exchanges) {
      const replayed = await replayOne(exchange, ids, at, options);
      counts[replayed.verdict]++;
      await printResult(replayed, at.output, options.diff);
    }
    await summarise(counts, at, options);
  });
}

async function replayOne(exchange: Exchange, ids: ReplayIds, at: PeerSession, { as, diff }: ReplayOptions): Promise<Replayed> {
  const skipped = (why: string): Replayed => ({ exchange, verdict: "skipped", differences: [], why });
  const { request, answer } = exchange;
  if (request.note.cut === true) return skipped("only its beginning was recorded");
  if (isProtected(request.envelope)) return skipped("its author signed or sealed it, and the replay is another message");
  const envelope = ids.envelopeFor(request.envelope, as, at.peer.card.name, Date.now());
  if (envelope === undefined) return skipped("it goes on with a task whose beginning was not replayed");
  const now = await outcome(envelope, at, (event) => ids.answered(answer?.envelope, event));
  if (answer === undefined || answer.note.cut === true || !diff) return { exchange, verdict: "unrecorded", differences: [] };
  const found = differences(recordedOutcome(answer), now);
  return { exchange, verdict: found.length === 0 ? "same" : "different", differences: found };
}

/** An error for one message is an outcome too; an unreachable agent ends the replay. */
async function outcome(
  envelope: Envelope,
  { peer, interrupt, output }: PeerSession,
  onAnswer: (event: Answer) => void,
): Promise<Outcome> {
  const streams = envelope.context.stream === true && peer.card.capabilities.streaming;
  const operation: Operation = { kind: "send", envelope, delivery: streams ? "stream" : "answer", task: "auto" };
  try {
    const reply = peer.handler(operation, startCall({ cancel: cancelFrom(interrupt.signal), reportLoss: lossReporter(output) }));
    // `checkAnswers` around every client half lets only answers to a send pass.
    const answer = isPromise(reply)
      ? ((await reply) as Answer)
      : await foldAnswer(reply as AsyncIterable<Answer>, () => undefined);
    if (answer !== undefined) onAnswer(answer);
    return outcomeOf(answer);
  } catch (thrown) {
    const error = AgentError.from(thrown);
    if (error.code === "unavailable" || error.code === "cancelled" || error.code === "unauthenticated") throw error;
    return { state: `error:${error.code}`, parts: [] };
  }
}

async function printResult(
  { exchange, verdict, differences: found, why }: Replayed,
  output: Output,
  diff: boolean,
): Promise<void> {
  const { envelope, note } = exchange.request;
  const text = oneLine(textOf(envelope.content), TEXT_CHARACTERS);
  if (output.format === "json") {
    const was = note.protocol === "" ? {} : { recorded_by: note.protocol };
    await output.line({
      request: envelope.id,
      text,
      ...was,
      verdict,
      differences: found as unknown as Json,
      ...(why && { why }),
    });
    return;
  }
  const mark = { same: "=", different: "≠", unrecorded: diff ? "?" : ">", skipped: "!" }[verdict];
  await output.text(`${mark} ${text}${why === undefined ? "" : ` (skipped: ${why})`}\n`);
  for (const each of found) {
    await output.text(`    ${each.what}\n`);
    const lines = changedLines(each);
    for (const line of lines.slice(0, DIFF_LINES)) await output.text(`      ${oneLine(line, DIFF_CHARACTERS)}\n`);
    if (lines.length > DIFF_LINES) await output.text(`      … ${lines.length - DIFF_LINES} more lines\n`);
  }
}

async function summarise(counts: Record<Verdict, number>, { peer, output }: PeerSession, { diff }: ReplayOptions): Promise<void> {
  const used = `${peer.protocol}@${peer.version}/${peer.binding}`;
  const sent = counts.same + counts.different + counts.unrecorded;
  if (output.format === "json") await output.line({ summary: { way: used, sent, ...counts, compared: diff } });
  else {
    const skipped = counts.skipped === 0 ? "" : `, ${counts.skipped} requests skipped`;
    const compared = `${counts.same} answers the same, ${counts.different} different, ${counts.unrecorded} not compared`;
    output.say(`${sent} requests sent over ${used}${diff ? `: ${compared}` : ""}${skipped}`);
    if (diff) output.say(output.colors.dim(NOT_COMPARED));
  }
  if (diff && counts.different > 0)
    throw new CliError(EXIT.failure, `${counts.different} of ${sent} answers differ from the recorded ones`, {
      code: "answers_differ",
    });
}

/** Requests in the order of the file, each with the answer that names it as its parent. */
async function readExchanges(path: string): Promise<readonly Exchange[]> {
  if ((await stat(path).catch(() => undefined))?.isFile() !== true) throw usageError(`there is no file ${path}`);
  const file = await open(path).catch((thrown: NodeJS.ErrnoException) => {
    throw usageError(`the file ${path} cannot be read (${thrown.code ?? "unknown reason"})`);
  });
  const requests: Recorded[] = [];
  const answers = new Map<string, Recorded>();
  let number = 0;
  for await (const line of file.readLines()) {
    number++;
    if (line.trim() === "") continue;
    const recorded = readRecorded(line, path, number);
    if (recorded.note.kind === "request") requests.push(recorded);
    else answers.set(recorded.envelope.context.parentId ?? "", recorded);
    if (requests.length > MAX_EXCHANGES) throw usageError(`${path} holds more than ${MAX_EXCHANGES} requests`);
  }
  return requests.map((request) => ({ request, answer: answers.get(request.envelope.id) }));
}

function readRecorded(line: string, path: string, number: number): Recorded {
  try {
    if (line.length > MAX_LINE_CHARACTERS) throw new AgentError("too_large", "the line is too long");
    return readLine(line);
  } catch (thrown) {
    throw usageError(`${path}, line ${number}: ${AgentError.from(thrown).message}`, "A recording has one UTE message per line.");
  }
}

/** Maps the ids of a recording to those of the replay. */
export class ReplayIds {
  readonly #newId: () => string;
  readonly #sessions = new Map<string, string>();
  readonly #tasks = new Map<string, string>();
  readonly #messages = new Map<string, string>();
  readonly #traces = new Map<string, string>();

  constructor(newId: () => string) {
    this.#newId = newId;
  }

  /** Undefined for a follow-up whose task was never replayed. */
  envelopeFor(recorded: Envelope, src: string, dst: string, nowMs: number): Envelope | undefined {
    const { context } = recorded;
    const taskId = context.taskId === undefined ? undefined : this.#tasks.get(context.taskId);
    if (context.taskId !== undefined && taskId === undefined) return undefined;
    const id = this.#newId();
    this.#messages.set(recorded.id, id);
    return {
      ...recorded,
      id,
      ts: nowMs / 1000,
      src,
      dst,
      context: {
        ...context,
        taskId,
        sessionId: context.sessionId === undefined ? undefined : this.#fresh(this.#sessions, context.sessionId),
        traceId: context.traceId === undefined ? undefined : this.#fresh(this.#traces, context.traceId),
        parentId: context.parentId === undefined ? undefined : this.#messages.get(context.parentId),
        // The same key would give the answer of an earlier replay.
        idempotencyKey: undefined,
      },
      // The interface is chosen here, and notes about the recording are not for the agent.
      meta: {},
      references: undefined,
      proofs: undefined,
      extra: undefined,
    };
  }

  /** Maps the ids of a recorded answer to those of the new one, for follow-ups. */
  answered(recorded: Envelope | undefined, event: EventOf<"send">): void {
    const now = namesIn(event);
    const { taskId, sessionId } = recorded?.context ?? {};
    if (taskId !== undefined && now.taskId !== undefined) this.#tasks.set(taskId, now.taskId);
    if (sessionId !== undefined && now.sessionId !== undefined) this.#sessions.set(sessionId, now.sessionId);
    if (recorded !== undefined && recorded.id !== "" && now.messageId !== undefined)
      this.#messages.set(recorded.id, now.messageId);
  }

  #fresh(ids: Map<string, string>, recorded: string): string {
    const known = ids.get(recorded) ?? this.#newId();
    ids.set(recorded, known);
    return known;
  }
}

interface Names {
  readonly messageId?: string | undefined;
  readonly taskId?: string | undefined;
  readonly sessionId?: string | undefined;
}

function namesIn(event: EventOf<"send">): Names {
  if (event.kind === "message") {
    const { id, context } = event.message;
    return { messageId: id, taskId: context.taskId, sessionId: context.sessionId };
  }
  if (event.kind === "task") return { taskId: event.task.id, sessionId: event.task.contextId };
  return { taskId: event.taskId, sessionId: event.contextId };
}
