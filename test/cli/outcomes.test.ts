import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createWorkspace, koine, type Serving, serving, type Workspace } from "./koine.js";

/** What a command reports does not depend on the protocol it used. */

const AGENT = `
export async function* handle(message, task) {
  if (message.text === "throw") throw new Error("inner secret");
  if (message.text === "late") {
    yield "before ";
    throw new Error("inner secret");
  }
  yield task.working("thinking");
  return "done";
}
`;
const WIRES = [
  "a2a@1.0/JSONRPC",
  "a2a@1.0/HTTP+JSON",
  "a2a@1.0/GRPC",
  "a2a@0.3/JSONRPC",
  "a2a@0.3/HTTP+JSON",
  "acp@0.2",
  "agora@0.2",
];
const PLAIN = ["a2a@plain", "acp@plain"];

/** A task, or the event of one. */
interface Shown {
  readonly state?: string;
  readonly task?: { readonly id: string; readonly state: string };
}

let workspace: Workspace;
let server: Serving;
let guarded: Serving;
/** A task that ended more than a second ago: a time of now would be later, in whole seconds too. */
let finished: { readonly id: string; readonly ended: number };
beforeAll(async () => {
  workspace = await createWorkspace();
  const agent = await workspace.write("outcomes.mjs", AGENT);
  server = await serving([agent]);
  guarded = await serving([agent], { KOINE_TOKENS: "alice=a-good-token-0123456789" });
  const sent = await koine(["send", server.url, "work", "-o", "json"]);
  finished = { id: (JSON.parse(sent.stdout) as Shown).task?.id ?? "", ended: Date.now() / 1000 };
  await pause(1_100);
});
afterAll(async () => {
  await server?.stop();
  await guarded?.stop();
  await workspace?.clear();
});

test.each([...WIRES, ...PLAIN])(
  "an agent that throws, over %s: a failed task, exit code 0, nothing of the error's words",
  async (protocol) => {
    for (const [text, ...more] of [["throw"], ["late", "--stream"]]) {
      const { code, stdout, stderr } = await koine([
        "send",
        server.url,
        text ?? "",
        "--protocol",
        protocol,
        "-o",
        "json",
        ...more,
      ]);
      const event = JSON.parse(more.length === 0 ? stdout : (stdout.trimEnd().split("\n").at(-1) ?? "")) as Shown;
      expect([code, event.task?.state ?? event.state]).toEqual([0, "failed"]);
      expect(stdout + stderr).not.toContain("inner secret");
    }
  },
);

test.each(["a2a@1.0/JSONRPC", "a2a@0.3/HTTP+JSON", "a2a@1.0/GRPC", "acp@0.2", "agora@0.2"])(
  "task get over %s shows the times that are stored",
  async (protocol) => {
    const { id, ended } = finished;
    const { stdout } = await koine(["task", "get", server.url, id, "--protocol", protocol, "-o", "json"]);
    const times = [...stdout.matchAll(/"(?:at|ts)": ([\d.]+)/g)].map(([, time]) => Number(time));
    expect(times.length).toBeGreaterThan(0);
    for (const time of times) expect(time).toBeLessThanOrEqual(ended);
  },
);

test.each(["a2a@1.0/JSONRPC", "a2a@1.0/GRPC", "acp@0.2", "agora@0.2", "a2a@plain"])(
  "over %s a rejected token is called rejected, and a missing one missing",
  async (protocol) => {
    const wrong = await koine(["send", guarded.url, "hello", "--protocol", protocol, "-o", "json"], {
      KOINE_TOKEN: "a-wrong-token-0123456789",
    });
    expect([wrong.code, wrong.stderr]).toEqual([4, expect.stringMatching(/reject/)]);
    expect(wrong.stderr).not.toMatch(/missing/);
    const none = await koine(["send", guarded.url, "hello", "--protocol", protocol, "-o", "json"]);
    expect([none.code, none.stderr]).toEqual([4, expect.not.stringMatching(/reject/)]);
  },
);
