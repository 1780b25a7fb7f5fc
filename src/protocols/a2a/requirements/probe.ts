import type { JsonObject, Maybe } from "../../../envelope/index.js";
import { ask, open, type RawRequest, type RawResponse } from "../../ask.js";
import { demand, demandString, type RequirementText, show, skip, toRequirement } from "../../check.js";
import type { Requirement, Subject } from "../../requirement.js";
import type { OperationName } from "../operations.js";
import { type CardView, cardOf, type ListedInterface } from "./card-view.js";
import { isOver, type Observed, type ObservedTask, type Sending } from "./forms.js";
import type { Answer, Wire } from "./wire.js";
import { resultOf, showError } from "./wire-errors.js";

export { resultOf };

/** The context of a check of one binding. */
export interface Probe {
  readonly subject: Subject;
  readonly card: CardView;
  readonly wire: Wire;
  readonly at: ListedInterface;
}

export type Change = Omit<RawRequest, "url" | "method"> & { readonly url?: Maybe<string>; readonly method?: Maybe<string> };

/** A requirement for one binding. `needs`: its precondition. */
export interface WireRequirement extends RequirementText {
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
    reason: "the agent has no skill tagged koine-conformance, so it does not understand the conformance commands",
  },
} as const;
export type Need = keyof typeof NEEDS;

/** The requirements for one binding. Skipped if the card does not list it. */
export function onWire(wire: Wire, requirements: readonly WireRequirement[]): readonly Requirement[] {
  const here = requirements.filter(
    ({ versions = ["1.0"], bindings }) => versions.includes(wire.version) && (bindings?.includes(wire.binding) ?? true),
  );
  return here.map((requirement) =>
    toRequirement(`a2a:${wire.name}`, requirement, { version: wire.version, binding: wire.binding }, async (subject) => {
      const probe = await probeOf(subject, wire);
      for (const need of requirement.needs ?? []) if (!NEEDS[need].met(probe.card)) skip(NEEDS[need].reason);
      await requirement.run(probe);
    }),
  );
}

/** A probe for one binding of the subject, if its card lists it. */
export async function probeOf(subject: Subject, wire: Wire): Promise<Probe> {
  const card = await cardOf(subject);
  const at =
    card.interfaces.find(({ binding, version }) => binding === wire.binding && version === wire.version) ??
    skip(`the card lists no ${wire.binding} interface for ${wire.version}`);
  if (wire.locate === undefined) return { subject, card, wire, at };
  const url = wire.locate(at.url, subject.url);
  demand(url !== undefined, `${show(at.url)} is not an address for ${wire.binding}`);
  return { subject, card, wire, at: { ...at, url } };
}

/** One operation, with params in 1.0 names. `change` edits the request before it is sent. */
export async function call(probe: Probe, operation: OperationName, params: JsonObject, change: Change = {}): Promise<Answer> {
  const id = probe.subject.newId();
  return probe.wire.read(await ask(probe.subject, written(probe, { operation, params, id }, change)), id, operation);
}

function written(
  { wire, at }: Probe,
  { operation, params, id }: { readonly operation: OperationName; readonly params: JsonObject; readonly id: string },
  change: Change,
): RawRequest {
  const request = wire.write(at, operation, params, id) ?? skip(`${wire.version} has no ${operation} on ${wire.binding}`);
  return {
    ...request,
    ...change,
    url: change.url ?? request.url,
    method: change.method ?? request.method,
    headers: { ...request.headers, ...change.headers },
  };
}

/** Skips checks that need a difference between callers with and without credentials. */
export function needsCredentials({ card, subject }: Probe): void {
  if (!card.demandsCredentials) skip("the card requires no credentials");
  if (Object.keys(subject.headers).length === 0) skip("no credentials were given, so the difference cannot be observed");
}

/** The request of an operation, for checks that modify it. */
export function requestFor(probe: Probe, operation: OperationName, params: JsonObject): RawRequest {
  return written(probe, { operation, params, id: "conform-1" }, {});
}

/** Sends the given bytes to the address of the binding. */
export function raw(probe: Probe, request: RawRequest): Promise<RawResponse> {
  return ask(probe.subject, request);
}

export function sendParams(probe: Probe, sending: Partial<Sending> = {}): JsonObject {
  return probe.wire.form.send({ messageId: probe.subject.newId(), ...sending });
}

/** A send that must succeed. */
export async function send(probe: Probe, sending: Partial<Sending> = {}): Promise<Observed> {
  return probe.wire.form.see(resultOf(await call(probe, "SendMessage", sendParams(probe, sending))));
}

/** A task: by command if the agent understands them, else the result of "hello". */
export async function anyTask(probe: Probe, sending: Partial<Sending> = {}): Promise<ObservedTask & { readonly id: string }> {
  const observed = await send(probe, { text: probe.card.commands ? "conform: task" : "hello", ...sending });
  if (observed.kind !== "task") return skip("the agent answers with messages, so there is no task");
  return { ...observed.task, id: demandString(observed.task.id, "task.id") };
}

/** A finished task. */
export async function finishedTask(
  probe: Probe,
  sending: Partial<Sending> = {},
): Promise<ObservedTask & { readonly id: string }> {
  const task = await anyTask(probe, sending);
  return isOver(task.state) ? task : skip(`the agent's task is ${task.state} after a blocking send, not finished`);
}

/** A task that runs until it is cancelled. Needs the conformance commands. */
export async function runningTask(probe: Probe): Promise<ObservedTask & { readonly id: string }> {
  const observed = await send(probe, { text: "conform: wait", configuration: { returnImmediately: true } });
  demand(observed.kind === "task", "a message came back instead of a task");
  demand(!isOver(observed.task.state), `the waiting task is already ${observed.task.state}`);
  return { ...observed.task, id: demandString(observed.task.id, "task.id") };
}

/** The result of a streaming operation: events, or a response that is not a stream. */
export interface Streamed {
  readonly status: number;
  readonly headers: RawResponse["headers"];
  /** Set if the response is not a stream. */
  readonly plain: Maybe<Answer>;
  readonly events: AsyncGenerator<Observed>;
  close(): void;
}

/** Opens a stream. REST subscribe is POST in the prose and GET in the proto; either is accepted. */
export async function stream(probe: Probe, operation: OperationName, params: JsonObject, change: Change = {}): Promise<Streamed> {
  const id = probe.subject.newId();
  const request = written(probe, { operation, params, id }, change);
  let opened = await open(probe.subject, request);
  if (operation === "SubscribeToTask" && probe.wire.binding === "HTTP+JSON" && opened.status === 405)
    opened = await open(probe.subject, { ...request, method: "GET", body: undefined });
  const { plain, results } = await probe.wire.listen(opened, id, operation);
  return { status: opened.status, headers: opened.headers, plain, events: seeAll(probe, results), close: opened.close };
}

async function* seeAll({ wire }: Probe, results: AsyncGenerator<unknown>): AsyncGenerator<Observed> {
  for await (const result of results) yield wire.form.see(result);
}

const EVENTS = 1_000;

/** All events of a stream that must end by itself; `until` can stop earlier. */
export async function collect(
  streamed: Streamed,
  until: (observed: Observed) => boolean = () => false,
): Promise<readonly Observed[]> {
  const { plain } = streamed;
  demand(
    plain === undefined,
    `no stream came back: ${plain?.error === undefined ? show(plain?.result) : showError(plain.error)}`,
  );
  const observed: Observed[] = [];
  for await (const event of streamed.events) {
    observed.push(event);
    demand(observed.length <= EVENTS, `more than ${EVENTS} events`);
    if (until(event)) break;
  }
  return observed;
}

/** The state in an event, if any. */
export function stateOf(observed: Maybe<Observed>): Maybe<string> {
  if (observed?.kind === "task") return observed.task.state;
  return observed?.kind === "status" ? observed.state : undefined;
}

/** The task id of an event, if any. */
export function taskIdOf(observed: Observed): unknown {
  if (observed.kind === "task") return observed.task.id;
  return observed.kind === "message" ? observed.raw["taskId"] : observed.taskId;
}
