import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startKoine } from "../peers/koine.js";
import type { OfficialServer } from "../peers/official.js";
import { pythonFor, runScript, type Script, startPython } from "./python.js";

const CLIENT: Script = { environment: "acp-1.0.3", file: "acp_client" };
const SERVER: Script = { environment: "acp-1.0.3", file: "acp_server" };

const STREAMED = [
  "run.created",
  "run.in-progress",
  "generic",
  "message.created agent/conform",
  "message.part stream: chunk 1 ",
  "message.part stream: chunk 2 ",
  "message.part stream: chunk 3 ",
  "message.completed agent/conform",
  "run.completed",
];
/** The messages of the session before it moved, and after. */
const BEFORE = ["one", "you said: one", "two", "you said: two", "three", "you said: three"];
const AFTER = ["four", "you said: four"];

/** The results of every conforming server. */
const SEEN = {
  ping: true,
  agents: { listed: true, description: "does what a test commands", tags: ["koine-conformance"], types: true },
  sync: { status: "completed", output: ["you said: hello"], roles: ["agent/conform"] },
  status: { status: "completed", output: ["you said: hello"] },
  artifact: { status: "completed", output: ["done", "finished"], named: ["result"] },
  async: { begun: "created", status: "completed", output: ["done", "finished"] },
  stream: STREAMED,
  "streamed run": ["chunk 1 chunk 2 chunk 3 "],
  events: STREAMED,
  question: { status: "awaiting", asked: "what is the answer?" },
  answer: { "same run": true, status: "completed", output: ["the answer was: 42"] },
  "answer later": { "same run": true, status: "completed", output: ["the answer was: 43"] },
  "question on a stream": "run.awaiting",
  "answer on a stream": [
    "run.in-progress",
    "generic",
    "message.created agent/conform",
    "message.part the answer was: 44",
    "message.completed agent/conform",
    "run.completed",
  ],
  cancel: { answer: "cancelling", ended: "cancelled", finished: true, last: "run.cancelled" },
  failed: ["failed", "server_error", "as commanded"],
  "failed stream": ["run.failed", "as commanded"],
  thrown: ["failed", false],
  parts: [
    ["text/plain", "conform: echo", "plain", null],
    ["image/x-four", "AAH+/w==", "base64", null],
    ["text/html", null, "plain", "https://files.example/page.html"],
    ["application/json", '{"deep":[1,{"ok":true}]}', "plain", null],
    ["text/plain", "as it is written", "plain", null],
    ["text/plain", "step", "plain", null],
  ],
  metadata: [null, null, null, null, "citation", "trajectory"],
  "two messages": { status: "completed", output: ["you said: hello\nagain"] },
  "another agent": { status: "completed", output: ["you said: hello"] },
  session: { same: true, history: BEFORE.slice(0, 4), streamed: "run.completed" },
  "session elsewhere": { same: true, status: "completed", output: ["you said: four"] },
  "session of the client": true,
  refusals: {
    "an unknown agent": "not_found",
    "a run of an unknown agent": "not_found",
    "a stream of an unknown agent": "not_found",
    "status of an unknown run": "not_found",
    "events of an unknown run": "not_found",
    "cancel of an unknown run": "not_found",
    "resume of an unknown run": "not_found",
    "cancel of a finished run": "server_error",
    "resume of a finished run": "server_error",
    "a run id that is none": "invalid_input",
    "an unknown session": "not_found",
  },
  afterwards: { status: "completed", output: ["you said: still there?"] },
};

const skip = pythonFor("acp-1.0.3") === undefined;

describe.skipIf(skip)("the official Python client of BeeAI ACP", () => {
  let ours: OfficialServer;
  let other: OfficialServer;
  let official: OfficialServer;
  beforeAll(async () => {
    [ours, other, official] = await Promise.all([startKoine(), startKoine(), startPython(SERVER)]);
  });
  afterAll(() => Promise.all([ours?.close(), other?.close(), official?.close()]));

  test("gets every result of a conforming server from ours, and moves a session from one of ours to another", async () => {
    expect(await runScript(CLIENT, ours.url, other.url)).toEqual({ ...SEEN, "history elsewhere": [...BEFORE, ...AFTER] });
  });

  test("moves a session from our server to the official one, which reads our history", async () => {
    const seen = await runScript(CLIENT, ours.url, official.url);
    expect(seen["history elsewhere"]).toEqual([...BEFORE, ...AFTER]);
  });

  test("moves a session from the official server to ours", async () => {
    const seen = await runScript(CLIENT, official.url, ours.url);
    expect(seen["session elsewhere"]).toEqual(SEEN["session elsewhere"]);
    expect(seen["history elsewhere"]).toEqual([...BEFORE, ...AFTER]);
  });
});
