import { afterAll, beforeAll, expect, test } from "vitest";
import { startA2aStub } from "../plain/stub.js";
import { createWorkspace, koine, type Serving, serving, type Workspace } from "./koine.js";

/** Fields of the envelope that users set on the command line reach the agent, and versions that do not fit are refused. */

const AGENT = `
export async function handle(message, task) {
  const { priority, ttlMs, tags, stream, minVersion, maxVersion } = message.context;
  return JSON.stringify({ via: task.call?.via.version, intent: message.intent, priority, ttlMs, tags, stream, minVersion, maxVersion });
}
`;

let workspace: Workspace;
let server: Serving;
beforeAll(async () => {
  workspace = await createWorkspace();
  server = await serving([await workspace.write("fields.mjs", AGENT)]);
});
afterAll(async () => {
  await server?.stop();
  await workspace?.clear();
});

const FIELDS = [
  "--priority",
  "7",
  "--tag",
  "a",
  "--tag",
  "b",
  "--ttl",
  "9",
  "--min-version",
  "0.2",
  "--max-version",
  "2.0",
  "--intent",
  "say",
];

test.each(["a2a@1.0", "a2a@0.3", "acp@0.2", "agora@0.2", "anp@1.2"])("over %s", async (protocol) => {
  const { code, stdout, stderr } = await koine(["send", server.url, "hello", "--protocol", protocol, ...FIELDS]);
  expect([code, stderr]).toEqual([0, ""]);
  const versions = { minVersion: "0.2", maxVersion: "2.0" };
  expect(JSON.parse(stdout)).toMatchObject({ intent: "say", priority: 7, ttlMs: 9000, tags: ["a", "b"], ...versions });
});

test("a stream says so in the message", async () => {
  const { stdout } = await koine(["send", server.url, "hello", "--stream"]);
  expect(JSON.parse(stdout)).toMatchObject({ stream: true });
});

test("--no-stream says so too, and a streaming agent answers once", async () => {
  const { stdout } = await koine(["send", server.url, "hello", "--no-stream"]);
  expect(JSON.parse(stdout)).toMatchObject({ stream: false });
  const silent = await koine(["send", server.url, "hello"]);
  expect(JSON.parse(silent.stdout)).not.toHaveProperty("stream");
});

test("the interface with a version that fits is used; without one nothing is sent", async () => {
  const old = await koine(["send", server.url, "hello", "--max-version", "0.3"]);
  expect([old.code, old.stdout]).toEqual([0, expect.stringContaining('"via":"0.3"')]);
  const none = await koine(["send", server.url, "hello", "--min-version", "7.0", "-o", "json"]);
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("unsupported_version")]);
  expect(none.stderr).toContain("7.0");
  const bad = await koine(["send", server.url, "hello", "--min-version", "seven"]);
  expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining("--min-version")]);
});

test("a plain peer gets the versions and refuses what does not fit", async () => {
  const stub = await startA2aStub();
  try {
    expect((await koine(["send", stub.url, "hello", "--min-version", "1.0"])).stdout).toBe("you said: hello\n");
    const refused = await koine(["send", stub.url, "hello", "--min-version", "2.0"]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("below 2.0")]);
    expect(stub.worked).toEqual(["hello"]);
  } finally {
    await stub.close();
  }
});
