import type { JsonObject, Maybe } from "../../../envelope/index.js";
import { type Ask, ask, type Got, open } from "../../ask.js";
import { type DutyText, demand, demandString, show, skip, toRequirement } from "../../duty.js";
import type { Requirement, Subject } from "../../requirement.js";
import type { OperationName } from "../operations.js";
import { type CardView, cardOf, type ListedInterface } from "./card-view.js";
import { isOver, type Seen, type SeenTask, type Sending } from "./forms.js";
import type { Answer, Wire } from "./wire.js";
import { resultOf, showError } from "./wire-errors.js";

export { resultOf };

/** What a check of one wire works with. */
export interface Probe {
  readonly subject: Subject;
  readonly card: CardView;
  readonly wire: Wire;
  readonly at: ListedInterface;
}

export type Change = Omit<Ask, "url" | "method"> & { readonly url?: Maybe<string>; readonly method?: Maybe<string> };

/** A duty of one wire. `needs` says when it applies at all. */
export interface WireDuty extends DutyText {
  readonly versions?: Maybe<readonly Wire["version"][]>;
  readonly bindings?: Maybe<readonly Wire["binding"][]>;
  readonly needs?: Maybe<readonly Need[]>;
  run(probe: Probe): Promise<void>;
}

const NEEDS = {
  streaming: { met: (card: CardView) => card.streaming, reason: "the card does not claim streaming" },
  "no streaming": { met: (card: CardView) => !card.streaming, reason: "the card claims streaming" },
  push: { met: (card: CardView) => card.push, reason: "the card does not claim push notifications" },
  "no push": { met: (card: CardView) => !card.push, reason: "the card claims push notifications" },
  extended: { met: (card: CardView) => card.extended, reason: "the card does not claim an extended card" },
  "no extended": { met: (card: CardView) => !card.extended, reason: "the card claims an extended card" },
  commands: {
    met: (card: CardView) => card.commands,
    reason: "the agent has no skill tagged koine-conformance, so it cannot be told what to do",
  },
} as const;
export type Need = keyof typeof NEEDS;

/** The duties of one wire as requirements; those of a wire the card does not list are skipped. */
export function onWire(wire: Wire, duties: readonly WireDuty[]): readonly Requirement[] {
  const here = duties.filter(
    ({ versions = ["1.0"], bindings }) => versions.includes(wire.version) && (bindings?.includes(wire.binding) ?? true),
  );
  return here.map((duty) =>
    toRequirement(`a2a:${wire.name}`, duty, { version: wire.version, binding: wire.binding }, async (subject) => {
      const probe = await probeOf(subject, wire);
      for (const need of duty.needs ?? []) if (!NEEDS[need].met(probe.card)) skip(NEEDS[need].reason);
      await duty.run(probe);
    }),
  );
}

/** A probe for one wire of the subject, if its card lists that wire. */
export async function probeOf(subject: Subject, wire: Wire): Promise<Probe> {
  const card = await cardOf(subject);
  const at =
    card.interfaces.find(({ binding, version }) => binding === wire.binding && version === wire.version) ??
    skip(`the card lists no ${wire.binding} interface for ${wire.version}`);
  if (wire.locate === undefined) return { subject, card, wire, at };
  const url = wire.locate(at.url, subject.url);
  demand(url !== undefined, `${show(at.url)} is no address for ${wire.binding}`);
  return { subject, card, wire, at: { ...at, url } };
}

/** One operation, params in the names of 1.0. `change` edits the request before it goes. */
export async function call(probe: Probe, operation: OperationName, params: JsonObject, change: Change = {}): Promise<Answer> {
  const id = probe.subject.newId();
  return probe.wire.read(await ask(probe.subject, written(probe, { operation, params, id }, change)), id, operation);
}

function written(
  { wire, at }: Probe,
  { operation, params, id }: { readonly operation: OperationName; readonly params: JsonObject; readonly id: string },
  change: Change,
): Ask {
  const request = wire.write(at, operation, params, id) ?? skip(`${wire.version} has no ${operation} on ${wire.binding}`);
  return {
    ...request,
    ...change,
    url: change.url ?? request.url,
    method: change.method ?? request.method,
    headers: { ...request.headers, ...change.headers },
  };
}

/** Skips what can only be seen from the difference that credentials make. */
export function needsCredentials({ card, subject }: Probe): void {
  if (!card.demandsCredentials) skip("the card demands no credentials");
  if (Object.keys(subject.headers).length === 0) skip("no credentials were given, so the difference cannot be seen");
}

/** The request an operation would make, for checks that bend it. */
export function requestFor(probe: Probe, operation: OperationName, params: JsonObject): Ask {
  return written(probe, { operation, params, id: "conform-1" }, {});
}

/** Bytes of the check's own making to the wire's address. */
export function raw(probe: Probe, request: Ask): Promise<Got> {
  return ask(probe.subject, request);
}

export function sendParams(probe: Probe, sending: Partial<Sending> = {}): JsonObject {
  return probe.wire.form.send({ messageId: probe.subject.newId(), ...sending });
}

/** A send that must succeed. */
export async function send(probe: Probe, sending: Partial<Sending> = {}): Promise<Seen> {
  return probe.wire.form.see(resultOf(await call(probe, "SendMessage", sendParams(probe, sending))));
}

/** A task to work with: by command where the agent knows them, else whatever "hello" gives. */
export async function anyTask(probe: Probe, sending: Partial<Sending> = {}): Promise<SeenTask & { readonly id: string }> {
  const seen = await send(probe, { text: probe.card.commands ? "conform: task" : "hello", ...sending });
  if (seen.kind !== "task") return skip("the agent answers with bare messages, so there is no task to look at");
  return { ...seen.task, id: demandString(seen.task.id, "task.id") };
}

/** A finished task. */
export async function finishedTask(probe: Probe, sending: Partial<Sending> = {}): Promise<SeenTask & { readonly id: string }> {
  const task = await anyTask(probe, sending);
  return isOver(task.state) ? task : skip(`the agent's task is ${task.state} after a blocking send, not finished`);
}

/** A task that runs until it is cancelled; only on command. */
export async function runningTask(probe: Probe): Promise<SeenTask & { readonly id: string }> {
  const seen = await send(probe, { text: "conform: wait", configuration: { returnImmediately: true } });
  demand(seen.kind === "task", "a message came back where a task was commanded");
  demand(!isOver(seen.task.state), `the waiting task is already ${seen.task.state}`);
  return { ...seen.task, id: demandString(seen.task.id, "task.id") };
}

/** What a streaming operation gave: events as they come, or an answer that is no stream. */
export interface Streamed {
  readonly status: number;
  readonly headers: Got["headers"];
  /** Set where the answer is not a stream. */
  readonly plain: Maybe<Answer>;
  readonly events: AsyncGenerator<Seen>;
  close(): void;
}

/** Opens a stream. REST subscribe is POST in the prose and GET in the proto: whichever the server has counts. */
export async function stream(probe: Probe, operation: OperationName, params: JsonObject, change: Change = {}): Promise<Streamed> {
  const id = probe.subject.newId();
  const request = written(probe, { operation, params, id }, change);
  let opened = await open(probe.subject, request);
  if (operation === "SubscribeToTask" && probe.wire.binding === "HTTP+JSON" && opened.status === 405)
    opened = await open(probe.subject, { ...request, method: "GET", body: undefined });
  const { plain, results } = await probe.wire.listen(opened, id, operation);
  return { status: opened.status, headers: opened.headers, plain, events: seeAll(probe, results), close: opened.close };
}

async function* seeAll({ wire }: Probe, results: AsyncGenerator<unknown>): AsyncGenerator<Seen> {
  for await (const result of results) yield wire.form.see(result);
}

const EVENTS = 1_000;

/** All events of a stream that must end by itself; `until` may stop it earlier. */
export async function collect(streamed: Streamed, until: (seen: Seen) => boolean = () => false): Promise<readonly Seen[]> {
  const { plain } = streamed;
  demand(
    plain === undefined,
    `no stream came back: ${plain?.error === undefined ? show(plain?.result) : showError(plain.error)}`,
  );
  const seen: Seen[] = [];
  for await (const event of streamed.events) {
    seen.push(event);
    demand(seen.length <= EVENTS, `more than ${EVENTS} events`);
    if (until(event)) break;
  }
  return seen;
}

/** The state an event shows, if it shows one. */
export function stateOf(seen: Maybe<Seen>): Maybe<string> {
  if (seen?.kind === "task") return seen.task.state;
  return seen?.kind === "status" ? seen.state : undefined;
}

/** The task an event belongs to, if it says so. */
export function taskIdOf(seen: Seen): unknown {
  if (seen.kind === "task") return seen.task.id;
  return seen.kind === "message" ? seen.raw["taskId"] : seen.taskId;
}
