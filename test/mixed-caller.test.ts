import { afterAll, beforeAll, expect, test } from "vitest";
import { agent, type Loss, type Server, serve } from "../src/index.js";

/** Requests of the FastA2A client 2.1.1 (Pydantic AI 2.66.0), as it sends them: methods of 0.3, parts of 1.0. */

const losses: Loss[] = [];
let server: Server;
beforeAll(async () => {
  const echo = agent({
    name: "echo",
    description: "echoes",
    async *handle(message, task) {
      yield task.working();
      yield task.artifact([...message.content]);
      return task.complete();
    },
  });
  server = await serve({ ...echo, onLoss: (loss: Loss) => losses.push(loss) }, { port: 0 });
});
afterAll(() => server?.close());

async function post(method: string, parts: readonly object[], more: object = {}): Promise<string> {
  const message = { role: "user", parts, messageId: "m-1", ...more };
  const body = JSON.stringify({ jsonrpc: "2.0", id: "1", method, params: { message } });
  const headers = { "content-type": "application/json", "user-agent": "python-httpx/0.28.1" };
  return (await fetch(`${server.url}/a2a/`, { method: "POST", headers, body })).text();
}

test("a message is answered in a member that names the answer, with the states of 0.3", async () => {
  losses.length = 0;
  const { result } = JSON.parse(await post("message/send", [{ text: "hello" }]));
  expect(Object.keys(result)).toEqual(["task"]);
  expect(result.task).toMatchObject({ status: { state: "completed" }, artifacts: [{ parts: [{ text: "hello" }] }] });
  expect(losses.map(({ path }) => path)).toContain("message.parts[].kind");
});

test("files and data are read as parts of 1.0", async () => {
  const parts = [
    { raw: "aGk=", filename: "f.txt", mediaType: "text/plain" },
    { data: { a: 1 } },
    { url: "https://example.com/x" },
  ];
  const { result } = JSON.parse(await post("message/send", parts));
  expect(result.task.artifacts[0].parts).toMatchObject([
    { file: { bytes: "aGk=", name: "f.txt", mimeType: "text/plain" } },
    { data: { a: 1 } },
    { file: { uri: "https://example.com/x" } },
  ]);
});

test("a stream has the members of 1.0", async () => {
  const events = (await post("message/stream", [{ text: "hello" }]))
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => Object.keys(JSON.parse(line.slice(6)).result)[0]);
  expect(events[0]).toBe("task");
  expect(new Set(events)).toEqual(new Set(["task", "statusUpdate", "artifactUpdate"]));
});

test("a message of 0.3 is answered as before, and a half of each is refused", async () => {
  const plain = JSON.parse(await post("message/send", [{ kind: "text", text: "hello" }], { kind: "message" }));
  expect(plain.result).toMatchObject({ kind: "task", status: { state: "completed" } });
  const mixed = JSON.parse(await post("message/send", [{ kind: "text", text: "a" }, { text: "b" }]));
  expect(mixed.error).toMatchObject({ code: -32602 });
});
