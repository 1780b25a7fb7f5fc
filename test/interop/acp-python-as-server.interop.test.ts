import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { httpExchange } from "../../conformance/http-exchange.js";
import { acpSdk103Gaps } from "../../conformance/known-gaps/acp-sdk-1.0.3.js";
import { runConformance } from "../../conformance/run.js";
import {
  type AgentEvent,
  answerOf,
  connect,
  DiscoveryCache,
  type Part,
  type RemoteAgent,
  type Task,
  textOf,
} from "../../src/index.js";
import { acp } from "../../src/protocols/acp/index.js";
import { codeOf, collect, line } from "../peers/against-official.js";
import type { OfficialServer } from "../peers/official.js";
import { pythonFor, type Script, startPython } from "./python.js";

const SERVER: Script = { environment: "acp-1.0.3", file: "acp_server" };

describe.skipIf(pythonFor("acp-1.0.3") === undefined)("our client against the official Python server of BeeAI ACP", () => {
  let server: OfficialServer;
  const open: RemoteAgent[] = [];
  beforeAll(async () => {
    server = await startPython(SERVER);
  });
  afterAll(async () => {
    for (const remote of open) await remote.close();
    await server?.close();
  });

  async function agentNamed(name: string): Promise<RemoteAgent> {
    const remote = await connect(`${server.url}/agents/${name}`, { discoveryCache: new DiscoveryCache() });
    open.push(remote);
    return remote;
  }

  test("finds it by its list of agents, and uses the first", async () => {
    const remote = await connect(server.url, { discoveryCache: new DiscoveryCache() });
    open.push(remote);
    expect(`${remote.protocol}@${remote.version}/${remote.binding}`).toBe("acp@0.2/REST");
    expect(remote.verified).toBe(true);
    expect(remote.evidence).toContain(`${server.url}/agents lists 8 agents`);
    expect(remote.card).toMatchObject({ name: "conform", description: "does what a test commands" });
    expect(await remote.health()).toBe(true);
    expect(await remote.ask("Grüße, 世界 🌍")).toBe("you said: Grüße, 世界 🌍");
  });

  test("finds any other by its own address, with its manifest", async () => {
    const { card } = await agentNamed("artifacts");
    expect(card).toMatchObject({
      name: "artifacts",
      description: "Shows every kind of part.",
      provider: { organization: "A. Tester", url: "https://example.org/tester" },
      inputModes: ["text/plain"],
      outputModes: ["text/plain", "application/json", "image/png"],
    });
    expect(card.skills).toMatchObject([{ name: "Parts", description: "shows every kind of part" }]);
  });

  test("waits for a run, and reads it again by its id", async () => {
    const remote = await agentNamed("conform");
    const task = taskOf(await remote.send("conform: task"));
    expect(summary(task)).toEqual({ state: "completed", artifacts: ["result: done", "finished"] });
    const again = await remote.getTask(task.id);
    expect(summary(again)).toEqual(summary(task));
    expect(again.contextId).toBe(task.contextId);
  });

  test("starts a run and reads it later", async () => {
    const remote = await agentNamed("slow");
    const begun = taskOf(await remote.start("go"));
    expect(begun.status.state).toBe("submitted");
    await remote.cancelTask(begun.id);
    const events = await collect(remote.subscribe(begun.id));
    expect(events.map(line).at(-1)).toBe("status canceled");
  });

  test("receives a stream chunk by chunk, with the thoughts in between", async () => {
    const remote = await agentNamed("streaming");
    const events = await collect(remote.stream("hello"));
    expect(events.map(withoutId)).toEqual([
      "task submitted",
      "status working",
      "status working",
      "artifact 1: one ",
      "artifact 1+ two ",
      "artifact 1+ three",
      "artifact 2: ",
      "status completed",
    ]);
    expect(events[2]).toMatchObject({ metadata: { thought: "in three pieces" } });
    const done = taskOf(await remote.send("hello"));
    expect(done.artifacts.map(({ parts }) => parts.map(contentOf))).toEqual([["one ", "two ", "three"], [{ pieces: 3 }]]);
  });

  test("answers a question, awaited and streamed", async () => {
    const remote = await agentNamed("awaiting");
    const asked = taskOf(await remote.send("knock knock"));
    expect([asked.status.state, textOf(asked.status.message?.content ?? [])]).toEqual(["input-required", "who is there?"]);
    const answered = taskOf(await remote.send("Ada", { task: asked.id, session: asked.contextId }));
    expect(answered.id).toBe(asked.id);
    expect(answered.status.state).toBe("completed");
    expect(answered.artifacts.flatMap(({ parts }) => parts.map(contentOf)).join("")).toBe("a moment. good day, Ada");

    const again = await collect(remote.stream("knock knock"));
    expect(again.map(withoutId)).toEqual(["task submitted", "status working", "artifact 1: a moment. ", "status input-required"]);
    const { id } = taskOf(again[0]);
    const rest = await collect(remote.stream("Bob", { task: id }));
    expect(rest.map(withoutId).at(-1)).toBe("status completed");
    expect(rest.map(withoutId)).toContain("artifact 1+ good day, Bob");
  });

  test("cancels a run that others subscribe to", async () => {
    const remote = await agentNamed("slow");
    const events = remote.stream("go")[Symbol.asyncIterator]();
    const { id } = taskOf((await events.next()).value);
    expect(lineOf(await events.next())).toBe("status working");
    expect(lineOf(await events.next())).toMatch(/begun$/);
    const cancelled = await remote.cancelTask(id);
    expect([cancelled.id, cancelled.status.state]).toEqual([id, "canceling"]);
    expect(lineOf(await events.next())).toBe("status canceled");
    expect((await events.next()).done).toBe(true);
    expect((await remote.getTask(id)).status.state).toBe("canceled");
  });

  test("receives the reason of a failed run", async () => {
    const remote = await agentNamed("failing");
    const { status, artifacts } = taskOf(await remote.send("hello"));
    expect(status).toMatchObject({ state: "failed", error: { code: "invalid_message", message: "that will not do" } });
    expect(artifacts.flatMap(({ parts }) => parts.map(contentOf))).toEqual(["so far so good"]);
    await expect(remote.ask("hello")).rejects.toMatchObject({ code: "invalid_message" });
    expect((await collect(remote.stream("hello"))).map(withoutId).at(-1)).toBe("status failed");
  });

  test("receives every kind of part, artifacts with their names and metadata with their kinds", async () => {
    const remote = await agentNamed("artifacts");
    const { artifacts } = taskOf(await remote.send("hello"));
    expect(artifacts.map(({ name, parts }) => ({ name, parts: parts.map(bare) }))).toEqual([
      { name: "report.json", parts: [{ kind: "data", data: { total: 2 } }] },
      { name: "dot.png", parts: [{ kind: "raw", bytes: new Uint8Array([0, 1, 254, 255]), mediaType: "image/png" }] },
      {
        name: undefined,
        parts: [
          { kind: "url", url: "https://files.example/page.html", mediaType: "text/html" },
          {
            kind: "text",
            text: "as it is written",
            metadata: { citation: { start_index: 3, end_index: 5, url: "https://source.example/", title: "The source" } },
          },
          {
            kind: "text",
            text: "",
            metadata: { trajectory: { tool_name: "look-up", tool_input: { word: "dot" }, tool_output: { found: true } } },
          },
        ],
      },
    ]);
  });

  test("sends every kind of part, and receives it back", async () => {
    const remote = await agentNamed("echo");
    const sent: readonly Part[] = [
      { kind: "text", text: "plain" },
      { kind: "text", text: "# marked", mediaType: "text/markdown" },
      { kind: "raw", bytes: new Uint8Array([0, 1, 254, 255]), mediaType: "application/x-four" },
      { kind: "url", url: "https://files.example/a.txt", mediaType: "text/plain" },
      { kind: "data", data: { deep: [1, { ok: true, nothing: null }] } },
      { kind: "text", text: "cited", metadata: { citation: { url: "https://source.example/" } } },
    ];
    expect(answerOf(taskOf(await remote.send(sent))).map(bare)).toEqual(sent);
  });

  test("continues a session, also one whose name is not a UUID", async () => {
    const remote = await agentNamed("sessions");
    for (const session of [crypto.randomUUID(), "my own"]) {
      expect(await remote.ask("one", { session })).toBe("0 before: ");
      expect(await remote.ask("two", { session })).toBe("2 before: one; 0 before: ");
    }
    expect(taskOf(await remote.send("three", { session: "my own" })).contextId).toBe("my own");
  });

  test("every refusal arrives as our own error code", async () => {
    const remote = await agentNamed("conform");
    const { id, contextId } = taskOf(await remote.send("conform: task"));
    const unknownId = crypto.randomUUID();
    expect({
      "get of an unknown run": await remote.getTask(unknownId).catch(codeOf),
      "get of what is no run id": await remote.getTask("nobody-knows-it").catch(codeOf),
      "cancel of an unknown run": await remote.cancelTask(unknownId).catch(codeOf),
      "subscribe to an unknown run": await collect(remote.subscribe(unknownId)).catch(codeOf),
      "a message for an unknown run": await remote.send("more", { task: unknownId }).catch(codeOf),
      "cancel of a finished run": await remote.cancelTask(id).catch(codeOf),
      "a message for a finished run": await remote.send("more", { task: id, session: contextId }).catch(codeOf),
      "a list of runs": await remote.listTasks({}).catch(codeOf),
      "the extended card": await remote.extendedCard().catch(codeOf),
      "an unknown agent": await agentNamed("nobody").then(() => "found", codeOf),
    }).toEqual({
      "get of an unknown run": "task_not_found",
      "get of what is no run id": "task_not_found",
      "cancel of an unknown run": "task_not_found",
      "subscribe to an unknown run": "task_not_found",
      "a message for an unknown run": "task_not_found",
      "cancel of a finished run": "not_cancelable",
      "a message for a finished run": "task_closed",
      "a list of runs": "unsupported_method",
      "the extended card": "card_not_configured",
      "an unknown agent": "unsupported",
    });
    expect(await remote.ask("hello")).toBe("you said: hello");
  });

  test("meets the requirements except for the listed gaps", { timeout: 180_000 }, async () => {
    const subject = { url: server.url, exchange: httpExchange, headers: {}, newId: () => crypto.randomUUID() };
    const report = await runConformance(subject, [acp], { knownGaps: acpSdk103Gaps });
    const failures = report.verdicts.filter(({ outcome }) => outcome === "unmet" || outcome === "stale gap");
    expect(failures.map(({ id, outcome, detail }) => `${outcome} ${id}: ${detail}`)).toEqual([]);
    expect(report.counts["known gap"]).toBe(Object.keys(acpSdk103Gaps).length);
    expect(report.counts.met).toBeGreaterThan(140);
  });
});

function taskOf(event: AgentEvent | void): Task {
  if (event?.kind !== "task") throw new Error(`a task was expected, not ${event?.kind ?? "the end"}`);
  return event.task;
}

const lineOf = (step: IteratorResult<AgentEvent, void>): string => (step.done === true ? "the end" : line(step.value));

/** Artifacts by their number: their names on our side are our own. */
const withoutId = (event: AgentEvent): string =>
  line(event).replace(/artifact result(?:-(\d+))?/, (_all, n = "1") => `artifact ${n}`);

const contentOf = (part: Part): unknown => (part.kind === "text" ? part.text : part.kind === "data" ? part.data : part.kind);

function summary({ status, artifacts }: Task): { readonly state: string; readonly artifacts: readonly string[] } {
  const texts = artifacts.map(({ name, parts }) => (name === undefined ? textOf(parts) : `${name}: ${textOf(parts)}`));
  return { state: status.state, artifacts: texts };
}

/** A part without the members that are absent, for comparison with a literal. */
function bare(part: Part): Part {
  const { mediaType, name, metadata, ...content } = part;
  return {
    ...content,
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(name === undefined ? {} : { name }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}
