import { isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { isEventStream } from "../../../transport/body.js";
import { ask, type OpenResponse, open, type RawRequest, type RawResponse, whole } from "../../ask.js";
import { demand, demandArray, demandObject, demandString, type RequirementText, show, skip, toRequirement } from "../../check.js";
import { readFrames } from "../../frames.js";
import { CONFORMANCE_TAG, type Requirement, type Subject } from "../../requirement.js";
import { agentAddress } from "../client/address.js";
import { demandEvent, demandRun, isOver } from "./shapes.js";

/** The context of a check of the released protocol. */
export interface Probe {
  readonly subject: Subject;
  /** The agent under test: the one that understands the conformance commands, else the first. */
  readonly agent: string;
  /** The agent understands the conformance commands. */
  readonly commands: boolean;
}

/** A requirement of the released protocol. */
export interface RunRequirement extends RequirementText {
  /** Needs an agent that understands the conformance commands. */
  readonly commanded?: true;
  run(probe: Probe): Promise<void>;
}

/** The sections that define them. */
export const OPENAPI = "BeeAI ACP OpenAPI 0.2.0";
export const SDK = "acp-sdk 1.0.3";

const WIRE = { version: "0.2", binding: "REST" } as const;

/** The requirements. All are skipped if the server does not support BeeAI ACP. */
export function onRuns(requirements: readonly RunRequirement[]): readonly Requirement[] {
  return requirements.map((requirement) =>
    toRequirement("acp:0.2", requirement, WIRE, async (subject) => {
      const probe = await probeOf(subject);
      if (requirement.commanded && !probe.commands)
        skip("the agent has no tag koine-conformance in its manifest, so it does not understand the conformance commands");
      await requirement.run(probe);
    }),
  );
}

/** Finds an agent to test. An invalid list is reported by its own requirement, if the server answers a ping. */
async function probeOf(subject: Subject): Promise<Probe> {
  const probe = await findAgent(subject);
  if (probe.agent === "") {
    const ping = await get(probe, "/ping");
    if (ping.status !== 200 || !isObject(ping.json)) skip("no BeeAI ACP server: neither GET /agents nor GET /ping is answered");
  }
  return probe;
}

/** The agent in the address, else the one with the conformance commands, else the first, else none. */
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

export type Change = Partial<Omit<RawRequest, "url">>;

export function get(probe: Probe, path: string, change: Change = {}): Promise<RawResponse> {
  return ask(probe.subject, { method: "GET", url: probe.subject.url + path, ...change });
}

/** A body as JSON, with its content type unless the change says otherwise. */
export function post(probe: Probe, path: string, body: unknown, change: Change = {}): Promise<RawResponse> {
  return ask(probe.subject, posting(probe, path, body, change));
}

function posting(probe: Probe, path: string, body: unknown, change: Change): RawRequest {
  return {
    method: "POST",
    url: probe.subject.url + path,
    body: body === undefined ? undefined : JSON.stringify(body),
    ...change,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...change.headers },
  };
}

/** A message of one text part, as written by the first clients. */
export function textMessage(text: string): JsonObject {
  return { role: "user", parts: [{ content_type: "text/plain", content: text }] };
}

/** The body of a new run. */
export function runBody(probe: Probe, text: string, more: JsonObject = {}): JsonObject {
  return { agent_name: probe.agent, input: [textMessage(text)], ...more };
}

/** A run that must be accepted, with the run as the response. */
export async function run(probe: Probe, text: string, more: JsonObject = {}): Promise<JsonObject> {
  const got = await post(probe, "/runs", runBody(probe, text, more));
  demand(got.status === 200 || got.status === 202, `answered ${got.status} ${show(got.json ?? got.text)}`);
  return demandRun(got.json, "the run");
}

/** A run that must exist. */
export async function readRun(probe: Probe, runId: unknown): Promise<JsonObject> {
  const got = await get(probe, `/runs/${runId}`);
  demand(got.status === 200, `GET /runs/{run_id} answers ${got.status}`);
  return demandRun(got.json, "the run");
}

/** A finished run. Without conformance commands an agent may ask a question; then there is none. */
export async function finishedRun(probe: Probe, more: JsonObject = {}): Promise<JsonObject> {
  const done = await run(probe, probe.commands ? "conform: task" : "hello", more);
  return isOver(done["status"]) ? done : skip(`the agent's run is ${show(done["status"])} after waiting for it, not finished`);
}

/** A run that continues until it is cancelled. Needs the conformance commands. */
export async function runningRun(probe: Probe): Promise<JsonObject> {
  const started = await run(probe, "conform: wait", { mode: "async" });
  return until(probe, started["run_id"], (status) => status !== "created");
}

/** A run that awaits an answer. Needs the conformance commands. */
export async function awaitingRun(probe: Probe): Promise<JsonObject> {
  const awaiting = await run(probe, "conform: ask");
  demand(awaiting["status"] === "awaiting", `the run with a question is ${show(awaiting["status"])}`);
  return awaiting;
}

/** The body that answers a question. */
export function resumeBody(text: string, mode = "sync"): JsonObject {
  return { await_resume: { type: "message", message: textMessage(text) }, mode };
}

/** Cancels without checking the result, so that nothing keeps running after a check. */
export async function cancel(probe: Probe, runId: unknown): Promise<RawResponse> {
  return post(probe, `/runs/${runId}/cancel`, undefined);
}

const LOOKS = 100;
const PAUSE_MS = 30;

/** Polls a run until its status matches, a bounded number of times. The protocol has no other way to wait. */
export async function until(probe: Probe, runId: unknown, isEnough: (status: unknown) => boolean): Promise<JsonObject> {
  let observed = await readRun(probe, runId);
  for (let look = 1; look < LOOKS && !isEnough(observed["status"]); look++) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    observed = await readRun(probe, runId);
  }
  demand(isEnough(observed["status"]), `after ${LOOKS} polls the run is still ${show(observed["status"])}`);
  return observed;
}

const EVENTS = 1_000;

/** An open stream. */
export interface Listening {
  readonly opened: OpenResponse;
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

async function* eventsOf(opened: OpenResponse): AsyncGenerator<JsonObject> {
  for await (const { data } of readFrames(opened.chunks)) yield demandEvent(JSON.parse(data));
}

/** All events of a streamed run, which must end by itself. */
export async function streamed(probe: Probe, text: string, more: JsonObject = {}): Promise<readonly JsonObject[]> {
  return all(await listen(probe, "/runs", runBody(probe, text, { mode: "stream", ...more })));
}

export async function all({ events }: Listening): Promise<readonly JsonObject[]> {
  const observed: JsonObject[] = [];
  for await (const event of events) {
    observed.push(event);
    demand(observed.length <= EVENTS, `more than ${EVENTS} events`);
  }
  demand(observed.length > 0, "the stream has no event");
  return observed;
}

/** The log of a run. */
export async function eventsIn(probe: Probe, runId: unknown): Promise<readonly JsonObject[]> {
  const got = await get(probe, `/runs/${runId}/events`);
  demand(got.status === 200, `GET /runs/{run_id}/events answers ${got.status}`);
  return demandArray(demandObject(got.json, "the answer")["events"], "events").map(demandEvent);
}

/** The run in an event. */
export function runIn(event: Maybe<JsonObject>): JsonObject {
  return demandObject(event?.["run"], "run");
}

export const typesOf = (events: readonly JsonObject[]): readonly string[] => events.map(({ type }) => demandString(type, "type"));

/** Skips checks that need a difference between callers with and without credentials. */
export async function needsCredentials(probe: Probe): Promise<void> {
  if (Object.keys(probe.subject.headers).length === 0) skip("no credentials were given, so the difference cannot be observed");
  const { status } = await post(probe, "/runs", runBody(probe, "hello"), { anonymous: true });
  if (status < 300) skip("the server answers callers without credentials too");
}
