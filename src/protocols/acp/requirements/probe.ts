import { isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { isEventStream } from "../../../transport/body.js";
import { type Ask, ask, type Got, type Opened, open, whole } from "../../ask.js";
import { type DutyText, demand, demandArray, demandObject, demandString, show, skip, toRequirement } from "../../duty.js";
import { readFrames } from "../../frames.js";
import { CONFORMANCE_TAG, type Requirement, type Subject } from "../../requirement.js";
import { agentAddress } from "../client/address.js";
import { demandEvent, demandRun, isOver } from "./shapes.js";

/** What a check of the released wire works with. */
export interface Probe {
  readonly subject: Subject;
  /** The agent that is asked: the one that knows our commands, else the first. */
  readonly agent: string;
  /** The probing commands are understood. */
  readonly commands: boolean;
}

/** A duty of the released wire. */
export interface RunDuty extends DutyText {
  /** Only an agent that can be told what to do shows it. */
  readonly commanded?: true;
  run(probe: Probe): Promise<void>;
}

/** Where the duties are written. */
export const OPENAPI = "BeeAI ACP OpenAPI 0.2.0";
export const SDK = "acp-sdk 1.0.3";

const WIRE = { version: "0.2", binding: "REST" } as const;

/** Duties as requirements; all are skipped where nothing speaks BeeAI ACP. */
export function onRuns(duties: readonly RunDuty[]): readonly Requirement[] {
  return duties.map((duty) =>
    toRequirement("acp:0.2", duty, WIRE, async (subject) => {
      const probe = await probeOf(subject);
      if (duty.commanded && !probe.commands)
        skip("the agent has no tag koine-conformance in its manifest, so it cannot be told what to do");
      await duty.run(probe);
    }),
  );
}

/** Finds an agent to ask. A list that cannot be read is a duty of its own, as long as the server answers a ping. */
async function probeOf(subject: Subject): Promise<Probe> {
  const probe = await findAgent(subject);
  if (probe.agent === "") {
    const ping = await get(probe, "/ping");
    if (ping.status !== 200 || !isObject(ping.json))
      skip("nothing speaks BeeAI ACP here: neither GET /agents nor GET /ping does");
  }
  return probe;
}

/** The agent that the address names, else the one that knows our commands, else the first, else none. */
export async function findAgent(given: Subject): Promise<Probe> {
  const { base, agentName } = agentAddress(given.url);
  const subject = { ...given, url: base };
  const { json } = await ask(subject, { method: "GET", url: `${base}/agents` });
  const manifests = isObject(json) && Array.isArray(json["agents"]) ? json["agents"].filter(isObject) : [];
  const isCommanded = ({ metadata }: JsonObject): boolean => tagsOf(metadata).includes(CONFORMANCE_TAG);
  const named = manifests.find(({ name }) => name === agentName);
  const chosen = named ?? manifests.find(isCommanded) ?? manifests[0] ?? {};
  const { name } = chosen;
  return { subject, agent: typeof name === "string" ? name : "", commands: isCommanded(chosen) };
}

function tagsOf(metadata: unknown): readonly unknown[] {
  return isObject(metadata) && Array.isArray(metadata["tags"]) ? metadata["tags"] : [];
}

export type Change = Partial<Omit<Ask, "url">>;

export function get(probe: Probe, path: string, change: Change = {}): Promise<Got> {
  return ask(probe.subject, { method: "GET", url: probe.subject.url + path, ...change });
}

/** A body as JSON, with its content type unless the change says otherwise. */
export function post(probe: Probe, path: string, body: unknown, change: Change = {}): Promise<Got> {
  return ask(probe.subject, posting(probe, path, body, change));
}

function posting(probe: Probe, path: string, body: unknown, change: Change): Ask {
  return {
    method: "POST",
    url: probe.subject.url + path,
    body: body === undefined ? undefined : JSON.stringify(body),
    ...change,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...change.headers },
  };
}

/** A message of one text part, as the first clients wrote it. */
export function says(text: string): JsonObject {
  return { role: "user", parts: [{ content_type: "text/plain", content: text }] };
}

/** The body of a new run. */
export function runBody(probe: Probe, text: string, more: JsonObject = {}): JsonObject {
  return { agent_name: probe.agent, input: [says(text)], ...more };
}

/** A run that must be taken, and stands as the answer. */
export async function run(probe: Probe, text: string, more: JsonObject = {}): Promise<JsonObject> {
  const got = await post(probe, "/runs", runBody(probe, text, more));
  demand(got.status === 200 || got.status === 202, `answered ${got.status} ${show(got.json ?? got.text)}`);
  return demandRun(got.json, "the run");
}

/** A run that must be there. */
export async function readRun(probe: Probe, runId: unknown): Promise<JsonObject> {
  const got = await get(probe, `/runs/${runId}`);
  demand(got.status === 200, `GET /runs/{run_id} answers ${got.status}`);
  return demandRun(got.json, "the run");
}

/** A finished run; without commands an agent may ask a question, and then there is none. */
export async function finishedRun(probe: Probe, more: JsonObject = {}): Promise<JsonObject> {
  const done = await run(probe, probe.commands ? "conform: task" : "hello", more);
  return isOver(done["status"]) ? done : skip(`the agent's run is ${show(done["status"])} after waiting for it, not finished`);
}

/** A run that goes on until it is cancelled; only on command. */
export async function runningRun(probe: Probe): Promise<JsonObject> {
  const begun = await run(probe, "conform: wait", { mode: "async" });
  return until(probe, begun["run_id"], (status) => status !== "created");
}

/** A run that waits for an answer; only on command. */
export async function askedRun(probe: Probe): Promise<JsonObject> {
  const asked = await run(probe, "conform: ask");
  demand(asked["status"] === "awaiting", `the run that asks is ${show(asked["status"])}`);
  return asked;
}

/** The body that answers a question. */
export function resumeBody(text: string, mode = "sync"): JsonObject {
  return { await_resume: { type: "message", message: says(text) }, mode };
}

/** Cancels and forgets: leaves nothing running behind a check. */
export async function cancel(probe: Probe, runId: unknown): Promise<Got> {
  return post(probe, `/runs/${runId}/cancel`, undefined);
}

const LOOKS = 100;
const PAUSE_MS = 30;

/** Looks at a run until its status is enough, a bounded number of times: the protocol has no other way to wait. */
export async function until(probe: Probe, runId: unknown, isEnough: (status: unknown) => boolean): Promise<JsonObject> {
  let seen = await readRun(probe, runId);
  for (let look = 1; look < LOOKS && !isEnough(seen["status"]); look++) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    seen = await readRun(probe, runId);
  }
  demand(isEnough(seen["status"]), `after ${LOOKS} looks the run is still ${show(seen["status"])}`);
  return seen;
}

const EVENTS = 1_000;

/** A stream that is open. */
export interface Listening {
  readonly opened: Opened;
  readonly events: AsyncGenerator<JsonObject>;
}

/** Opens a stream that must begin. */
export async function listen(probe: Probe, path: string, body: JsonObject): Promise<Listening> {
  const opened = await open(probe.subject, posting(probe, path, body, {}));
  if (!isEventStream(opened.headers["content-type"])) {
    const got = await whole(opened);
    demand(false, `no stream came back: ${got.status} ${show(got.json ?? got.text)}`);
  }
  return { opened, events: eventsOf(opened) };
}

async function* eventsOf(opened: Opened): AsyncGenerator<JsonObject> {
  for await (const { data } of readFrames(opened.chunks)) yield demandEvent(JSON.parse(data));
}

/** All events of a streamed run, which must end by itself. */
export async function streamed(probe: Probe, text: string, more: JsonObject = {}): Promise<readonly JsonObject[]> {
  return all(await listen(probe, "/runs", runBody(probe, text, { mode: "stream", ...more })));
}

export async function all({ events }: Listening): Promise<readonly JsonObject[]> {
  const seen: JsonObject[] = [];
  for await (const event of events) {
    seen.push(event);
    demand(seen.length <= EVENTS, `more than ${EVENTS} events`);
  }
  demand(seen.length > 0, "the stream has no event");
  return seen;
}

/** The log of a run. */
export async function eventsIn(probe: Probe, runId: unknown): Promise<readonly JsonObject[]> {
  const got = await get(probe, `/runs/${runId}/events`);
  demand(got.status === 200, `GET /runs/{run_id}/events answers ${got.status}`);
  return demandArray(demandObject(got.json, "the answer")["events"], "events").map(demandEvent);
}

/** The run an event shows. */
export function runIn(event: Maybe<JsonObject>): JsonObject {
  return demandObject(event?.["run"], "run");
}

export const typesOf = (events: readonly JsonObject[]): readonly string[] => events.map(({ type }) => demandString(type, "type"));

/** Skips what can only be seen from the difference that credentials make. */
export async function needsCredentials(probe: Probe): Promise<void> {
  if (Object.keys(probe.subject.headers).length === 0) skip("no credentials were given, so the difference cannot be seen");
  const { status } = await post(probe, "/runs", runBody(probe, "hello"), { anonymous: true });
  if (status < 300) skip("the server answers callers without credentials too");
}
