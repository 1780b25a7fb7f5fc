import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { isObject, type Json, type JsonObject, type Part, type TaskEvent, TaskFold, textOf } from "../../../envelope/index.js";
import { NestedJson } from "../../../transport/json.js";
import { DEFAULT_LIMITS } from "../../../transport/limits.js";
import {
  type CodecFacts,
  decodeManifest,
  decodeResume,
  decodeRun,
  decodeRunRequest,
  encodeManifest,
  encodeResume,
  encodeRun,
  encodeRunRequest,
  RunEventReader,
  RunEventWriter,
  sendOf,
} from "../codec.js";
import { errorFromWire } from "../errors.js";

interface Step {
  readonly step: string;
  readonly method: string;
  readonly path: string;
  readonly request?: JsonObject;
  readonly status: number;
  readonly response?: JsonObject;
  readonly events?: readonly JsonObject[];
}

const read = (name: string): readonly Step[] =>
  JSON.parse(readFileSync(new URL(`../fixtures/${name}.json`, import.meta.url), "utf8"));
const python = read("python-1.0.3");
const both = [...python, ...read("js-1.0.3")];

function step(name: string, steps = python): Step {
  const found = steps.find((each) => each.step === name);
  if (found === undefined) throw new Error(`no step ${name}`);
  return found;
}

let ids = 0;
const losses = new Set<string>();
/** The paths of the losses since the last call. A test that does not call it must have no losses. */
function notified(): readonly string[] {
  const paths = [...losses];
  losses.clear();
  return paths;
}
afterEach(() => expect(notified()).toEqual([]));

const facts: CodecFacts = {
  now: Date.parse("2026-11-16T03:00:00Z"),
  newId: () => `id-${++ids}`,
  src: "caller",
  dst: "agent",
  partsPerMessage: 100,
  nested: new NestedJson(DEFAULT_LIMITS),
  reportLoss: ({ path }) => void losses.add(path),
};

const isRun = (value: unknown): value is JsonObject => isObject(value) && value["run_id"] !== undefined;
const texts = (parts: readonly Part[]): string => textOf(parts);

/** As JSON: null, and times finer than milliseconds, are no difference. */
function plain(value: unknown): Json {
  const written = JSON.stringify(value, (name, member: Json) => (member === null || /_at$/.test(name) ? undefined : member));
  return JSON.parse(written);
}

describe("recorded requests", () => {
  const creations = both.filter(({ method, path, status }) => method === "POST" && path === "/runs" && status < 300);

  test.each(creations)("$step ($request.mode): round-trips", ({ request = {} }) => {
    const decoded = decodeRunRequest(request, facts);
    expect(decoded).toMatchObject({ agentName: request["agent_name"], mode: request["mode"] });
    const { envelope } = sendOf(decoded);
    const delivery = { sync: "answer", async: "accepted", stream: "stream" } as const;
    const operation = { kind: "send", envelope, delivery: delivery[decoded.mode], task: "always" } as const;
    const { body } = encodeRunRequest(operation, decoded.agentName, decoded.sessionId, facts.reportLoss);
    const { sessionId } = decoded;
    expect(withDefaults(body)).toEqual(withDefaults(sessionId === undefined ? request : { ...request, session_id: sessionId }));
  });

  test.each(both.filter(({ path, request }) => request?.["await_resume"] !== undefined && path.startsWith("/runs/")))(
    "$step: an answer round-trips",
    ({ request = {} }) => {
      const { mode, message } = decodeResume(request, facts);
      expect([mode, texts(message.content)]).toEqual([request["mode"], "Ada"]);
      const delivery = { sync: "answer", async: "accepted", stream: "stream" } as const;
      const operation = { kind: "send", envelope: message, delivery: delivery[mode], task: "always" } as const;
      expect(withDefaults(encodeResume(operation, "", facts.reportLoss).body)).toMatchObject(withDefaults(request) as JsonObject);
    },
  );

  test("every kind of part has this content", () => {
    const { envelope } = sendOf(decodeRunRequest(step("run and wait").request, facts));
    expect(plain(envelope.content.map((part) => (part.kind === "raw" ? { ...part, bytes: [...part.bytes] } : part)))).toEqual([
      { kind: "text", text: "hello" },
      { kind: "raw", bytes: [0, 1, 254, 255], mediaType: "image/x-four", name: "four.bin" },
      { kind: "url", url: "https://files.example/page.html", mediaType: "text/html" },
      { kind: "data", data: { deep: [1, { ok: true }] } },
      { kind: "text", text: "cited", metadata: { citation: { url: "https://source.example/", title: "The source" } } },
      {
        kind: "text",
        text: "",
        metadata: {
          trajectory: {
            message: "looked it up",
            tool_name: "look-up",
            tool_input: { word: "dot" },
            tool_output: { found: true },
          },
        },
      },
    ]);
  });

  test("a session is named by its id or included", () => {
    const id = "00000015-0000-4000-8000-000000000000";
    const begun = decodeRunRequest(step("begin a session").request, facts);
    expect([begun.sessionId, begun.session]).toEqual([id, { id, history: [], state: undefined }]);
    expect(sendOf(begun).envelope.extra).toMatchObject({ acp: { session: { id, history: [] } } });
    const next = decodeRunRequest(step("go on in a session").request, facts);
    expect([next.sessionId, next.session]).toEqual([id, undefined]);
  });
});

describe("recorded runs", () => {
  test.each<[string, string, readonly string[], string]>([
    ["run and come back", "submitted", [], ""],
    ["come back", "completed", ["hello"], ""],
    ["run and be asked", "input-required", ["a moment. "], "who is there?"],
    ["answer and wait", "completed", ["a moment. good day, Ada"], ""],
    ["answer and come back", "working", ["a moment. "], ""],
    ["run and fail", "failed", ["so far so good"], ""],
    ["look at something slow", "working", ["begun"], ""],
    ["cancel something slow", "canceling", ["begun"], ""],
    ["look at what was cancelled", "canceled", ["begun"], ""],
  ])("%s: a task that is %s", (name, state, artifacts, sent) => {
    const { response } = step(name);
    const task = decodeRun(response, facts);
    expect(notified()).toEqual(lossesIn(response));
    expect([task.id, task.contextId]).toEqual([response?.["run_id"], response?.["session_id"]]);
    expect(task.status.state).toBe(state);
    // Chunks of a text are separate parts, decoded as one text.
    expect(task.artifacts.map(({ parts }) => parts.map((part) => (part.kind === "text" ? part.text : "")).join(""))).toEqual(
      artifacts,
    );
    expect(texts(task.status.message?.content ?? [])).toBe(sent);
  });

  test("a failure keeps the agent's message", () => {
    const { status } = decodeRun(step("run and fail").response, facts);
    expect(notified()).toEqual(["task.status.error"]);
    expect(status).toMatchObject({ state: "failed", error: { code: "invalid_message", message: "that will not do" } });
    expect(status.at).toBe(Math.floor(Date.parse(String(step("run and fail").response?.["finished_at"]))));
  });

  const runs = both.filter(({ response }) => isRun(response));
  test.each(runs)("$step: round-trips", ({ response = {} }) => {
    const agentName = String(response["agent_name"]);
    const createdAt = Date.parse(String(response["created_at"]));
    const written = encodeRun(decodeRun(response, facts), { agentName, createdAt, reportLoss: facts.reportLoss });
    const losses = notified();
    expect(losses).toEqual(lossesIn(response));
    expect(alike(written, losses)).toEqual(alike(response, losses));
  });
});

describe("recorded events", () => {
  const streams = both.filter(({ events }) => events !== undefined);

  test("the events of a streaming agent are these", () => {
    expect(linesOf(readAll(step("run and listen").events ?? []))).toEqual([
      "task submitted",
      "status working",
      "status working",
      "artifact 1: one ",
      "artifact 1+ two ",
      "artifact 1+ three",
      'artifact 2: {"pieces":3}',
      "status completed",
    ]);
  });

  test.each(streams)("$step: leads to the run of its last event", ({ events = [] }) => {
    const last = events.at(-1)?.["run"];
    const seen = readAll(events);
    const [first] = seen;
    if (first?.kind !== "task") throw new Error(`the first event is a ${first?.kind}`);
    const fold = new TaskFold(first.task);
    for (const event of seen.slice(1)) fold.apply(event);
    const shown = decodeRun(last, facts);
    expect(notified()).toEqual(lossesIn(last));
    const task = fold.snapshot();
    expect([task.id, task.status.state]).toEqual([shown.id, shown.status.state]);
    // Events before a question are not repeated after it.
    const whole = events[0]?.["type"] === "run.created" ? shown.artifacts.map(({ parts }) => parts) : undefined;
    expect(task.artifacts.map(({ parts }) => parts)).toEqual(whole ?? expect.anything());
  });

  test.each(streams.filter(({ path }) => path === "/runs"))("$step: is encoded in the same order", ({ events = [] }) => {
    const run = events[0]?.["run"];
    const agentName = isRun(run) ? String(run["agent_name"]) : "";
    const writer = new RunEventWriter({ agentName, createdAt: 0, reportLoss: facts.reportLoss });
    const written = readAll(events).flatMap((event) => writer.write(event));
    expect(notified()).toEqual(lossesIn(events.at(-1)?.["run"]));
    // A message that is open when its run fails is closed here and left open by the SDK.
    const types = (all: readonly { readonly type?: unknown }[]): readonly unknown[] =>
      all.map(({ type }) => type).filter((type) => !/message\.(created|completed)/.test(String(type)));
    expect(types(written)).toEqual(types(events));
  });
});

describe("recorded manifests", () => {
  test("an agent is this card", () => {
    expect(decodeManifest(step("read one agent").response)).toMatchObject({
      name: "artifacts",
      description: "Shows every kind of part.",
      inputModes: ["text/plain"],
      outputModes: ["text/plain", "application/json", "image/png"],
    });
  });

  test("is encoded with its original members", () => {
    const { response } = step("read one agent");
    expect(plain(encodeManifest(decodeManifest(response)))).toMatchObject(plain(response) as JsonObject);
  });
});

test.each<[string, string]>([
  ["refused: unknown agent", "not_found"],
  ["refused: unknown run", "not_found"],
  ["refused: no run id", "invalid_message"],
  ["refused: two sessions", "invalid_message"],
  ["refused: content and address", "invalid_message"],
  ["refused: method", "unsupported_method"],
  ["refused: no such route", "not_found"],
])("%s is mapped to %s", (name, code) => {
  const { response, status } = step(name);
  expect(errorFromWire(response, status).code).toBe(code);
});

/** Absent members and defaults are equivalent: the Python client writes all of them, the other none. */
function withDefaults(value: unknown): Json {
  const bare = JSON.stringify(plain(value));
  return JSON.parse(bare, (name, member: Json) => {
    if (name === "content_encoding" && member === "plain") return undefined;
    return name === "content_type" && member === "text/plain" ? undefined : member;
  });
}

/** The members of a run that a task cannot hold, determined from the run alone. */
function lossesIn(run: unknown): readonly string[] {
  const { output, error } = plain(run) as {
    readonly output?: readonly { readonly parts: readonly JsonObject[] }[];
    readonly error?: JsonObject;
  };
  const isMixed = output?.some(({ parts }) => new Set(parts.map(({ name }) => name)).size > 1) === true;
  return [...(isMixed ? ["task.artifacts"] : []), ...(error?.["data"] === undefined ? [] : ["task.status.error"])];
}

/**
 * Normalizes a run for comparison: an answered question stays on runs of the SDK; Koine members are no difference. If reported as
 * lost, parts with a name may follow the others, and an error may lack its details.
 */
function alike(run: unknown, losses: readonly string[]): Json {
  const { await_request: requests, output, error, ...rest } = plain(run) as JsonObject; // a run is an object
  const messages = [output, isObject(requests) ? requests["message"] : []].flat().filter(isObject);
  const parts = messages.flatMap(({ parts: each }) => (Array.isArray(each) ? each : [])).filter(isObject);
  const bare = parts
    .map(({ "urn:koine:1": _, ...part }) => part)
    .filter((part) => rest["status"] === "awaiting" || !isQuestion(part));
  const isNamed = ({ name }: JsonObject): number => (name === undefined ? 0 : 1);
  return {
    ...rest,
    parts: losses.includes("task.artifacts") ? bare.sort((a, b) => isNamed(a) - isNamed(b)) : bare,
    roles: [output]
      .flat()
      .filter(isObject)
      .every(({ role }) => role === `agent/${rest["agent_name"]}`),
    error: isObject(error) ? { ...error, data: losses.includes("task.status.error") ? null : withoutCode(error["data"]) } : null,
  };
}

/** The Koine code is in the details. */
function withoutCode(data: unknown): JsonObject {
  const { code: _, ...rest } = isObject(data) ? data : {};
  return rest;
}

const isQuestion = ({ content }: JsonObject): boolean => content === "who is there?";

function readAll(events: readonly JsonObject[]): readonly TaskEvent[] {
  const reader = new RunEventReader(facts);
  return events.flatMap((event) => reader.read(event)).filter((event): event is TaskEvent => event.kind !== "message");
}

/** One line per event. Artifacts are numbered, because their ids are internal. */
function linesOf(events: readonly TaskEvent[]): readonly string[] {
  const names: string[] = [];
  return events.map((event) => {
    if (event.kind === "task") return `task ${event.task.status.state}`;
    if (event.kind === "status") return `status ${event.status.state}`;
    const { artifact, append } = event;
    if (!names.includes(artifact.id)) names.push(artifact.id);
    const sent = artifact.parts.map((part) => (part.kind === "data" ? JSON.stringify(part.data) : texts([part])));
    return `artifact ${names.indexOf(artifact.id) + 1}${append ? "+" : ":"} ${sent}`;
  });
}
