import { describe, expect, it } from "vitest";
import type { WireEvent, WireMessage, WirePart, WireRun, WireRunRequest } from "../wire.js";
import { eventText, runRequestText, runText } from "./event-text.js";
import { KOINE_KEY } from "./koine-members.js";

const part = (members: object = {}): WirePart => ({
  name: null,
  content_type: "text/plain",
  content: "hi",
  content_encoding: "plain",
  content_url: null,
  metadata: null,
  ...members,
});
const message = (parts: readonly WirePart[], members: object = {}): WireMessage => ({
  role: "agent/bench",
  parts,
  created_at: null,
  completed_at: null,
  ...members,
});
const run = (output: readonly WireMessage[], members: object = {}): WireRun => ({
  run_id: "r",
  agent_name: 'a"b',
  session_id: null,
  status: "completed",
  await_request: null,
  output,
  error: null,
  created_at: "2026-01-01T00:00:00.000Z",
  finished_at: "2026-01-01T00:00:01.000Z",
  ...members,
});

const PARTS: readonly (readonly [string, WirePart])[] = [
  ["a text", part()],
  ["what JSON escapes", part({ content: 'line\r\n"quoted"\\\u0000\u2028\ud800 é 😀', name: '"', content_type: "text/\\" })],
  ["no content", part({ content: null })],
  ["absent members", part({ name: undefined, content: undefined, metadata: undefined })],
  ["a name", part({ name: "n" })],
  ["bytes", part({ content_encoding: "base64", content_type: "application/octet-stream" })],
  ["a link", part({ content: null, content_url: "https://x" })],
  ["a citation", part({ metadata: { kind: "citation", title: "t" } })],
  ["members of Koine", part({ [KOINE_KEY]: { last: true } })],
  ["members of another hop", { other: 1, ...part() }],
];

describe("eventText", () => {
  it.each(PARTS)("is what JSON.stringify writes: %s", (_, each) => {
    const events: readonly WireEvent[] = [
      { type: "message.part", part: each },
      { type: "message.completed", message: message([each, part(), each]) },
      { type: "run.completed", run: run([message([each]), message([each, each])]) },
    ];
    for (const event of events) expect(eventText(event)).toBe(JSON.stringify(event));
  });

  it.each<[string, WireEvent]>([
    ["a new message", { type: "message.created", message: message([]) }],
    ["times", { type: "message.completed", message: message([part()], { created_at: "2026", completed_at: "2027" }) }],
    ["absent times", { type: "message.completed", message: message([part()], { created_at: undefined }) }],
    ["a run", { type: "run.created", run: run([], { status: "created", finished_at: null }) }],
    ["a run with members of Koine", { type: "run.in-progress", run: run([]), [KOINE_KEY]: { says: true } } as WireEvent],
    ["an error", { type: "run.failed", run: run([], { error: { code: "server_error", message: "no" } }) }],
    ["progress", { type: "generic", generic: { message: "x" } }],
  ])("is what JSON.stringify writes: %s", (_, event) => {
    expect(eventText(event)).toBe(JSON.stringify(event));
  });
});

describe("runRequestText", () => {
  const request = (members: Partial<WireRunRequest>): WireRunRequest => ({
    agent_name: 'a"b',
    input: [message([part()], { role: "user", created_at: "2026", completed_at: "2026" })],
    session_id: "s",
    session: undefined,
    mode: "sync",
    ...members,
  });
  it.each<[string, WireRunRequest]>([
    ["a message", request({})],
    ["no session", request({ session_id: undefined, mode: "stream" })],
    ["a session with its history", request({ session: { id: "s", history: [] } })],
    ["earlier messages with other members", request({ input: [{ ...message([]), other: 1 } as WireMessage, message([part()])] })],
    ["no input", request({ input: [] })],
  ])("is what JSON.stringify writes: %s", (_, body) => {
    expect(runRequestText(body)).toBe(JSON.stringify(body));
  });
});

describe("runText", () => {
  it.each<[string, object]>([
    ["a session", { session_id: "s" }],
    ["no session", { session_id: undefined }],
    ["unfinished", { status: "in-progress", finished_at: null }],
    ["a question", { status: "awaiting", await_request: { type: "message", message: message([part()]) } }],
    ["an error", { status: "failed", error: { code: "server_error", message: "no" } }],
    ["absent members", { await_request: undefined, error: undefined, finished_at: undefined }],
  ])("is what JSON.stringify writes: %s", (_, members) => {
    const made = run([message([part()])], members);
    expect(runText(made)).toBe(JSON.stringify(made));
  });
});
