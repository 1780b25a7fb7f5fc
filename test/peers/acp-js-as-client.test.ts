import { createRequire } from "node:module";
import type * as AcpSdk from "acp-sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Server } from "../../src/index.js";
import { collect } from "./against-official.js";
import { ALICE, BOB, startGuardedKoine, startKoine } from "./koine.js";

// Its ES modules import JSON without an import attribute, which Node refuses.
const { ACPError, Client, HTTPError } = createRequire(import.meta.url)("acp-sdk") as typeof AcpSdk;

type Run = AcpSdk.Run;
type Message = AcpSdk.Message;

const AGENT = "conform";
const UNKNOWN = "00000000-0000-4000-8000-000000000000";
const messageOf = (parts: Message["parts"]): Message => ({ role: "user", parts, created_at: null, completed_at: null });
const resume = (content: string): AcpSdk.AwaitResume => ({
  type: "message",
  message: messageOf([{ content_type: "text/plain", content_encoding: "plain", content }]),
});

describe("npm acp-sdk 1.0.3 as client against our server", () => {
  let server: Server;
  let client: AcpSdk.Client;
  beforeAll(async () => {
    server = await startKoine();
    client = new Client({ baseUrl: server.url });
  });
  afterAll(() => server?.close());

  test("pings, and reads our manifest", async () => {
    await client.ping();
    const [manifest] = await client.agents();
    expect(manifest).toMatchObject({ name: AGENT, description: "does what a test commands" });
    expect(manifest?.metadata?.tags).toContain("koine-conformance");
    expect((await client.agent(AGENT)).name).toBe(AGENT);
  });

  test("waits for a run, and reads it again", async () => {
    const run = await client.runSync(AGENT, "hello");
    expect(summary(run)).toEqual({ status: "completed", output: ["you said: hello"] });
    expect(run.output[0]?.role).toBe("agent/conform");
    expect(summary(await client.runStatus(run.run_id))).toEqual(summary(run));
  });

  test("starts a run and reads it later", async () => {
    const begun = await client.runAsync(AGENT, "conform: task");
    expect([begun.status, begun.output]).toEqual(["created", []]);
    const done = await until(client, begun.run_id, "completed");
    expect(summary(done)).toEqual({ status: "completed", output: ["done", "finished"] });
    expect(done.output[0]?.parts[0]?.name).toBe("result");
  });

  test("receives a stream in order, and finds the same in the log", async () => {
    const events = await collect(client.runStream(AGENT, "conform: stream 3"));
    expect(events.map(line)).toEqual([
      "run.created",
      "run.in-progress",
      "generic",
      "message.created",
      "message.part chunk 1 ",
      "message.part chunk 2 ",
      "message.part chunk 3 ",
      "message.completed",
      "run.completed",
    ]);
    const logged = await client.runEvents(runOf(events[0]).run_id);
    expect(logged.map(line)).toEqual(events.map(line));
  });

  test("answers a question in every mode", async () => {
    const asked = await client.runSync(AGENT, "conform: ask");
    expect([asked.status, textOf(asked.await_request?.message)]).toEqual(["awaiting", "what is the answer?"]);
    const waited = await client.runResumeSync(asked.run_id, resume("42"));
    expect([waited.run_id, summary(waited).output]).toEqual([asked.run_id, ["the answer was: 42"]]);

    const later = await client.runSync(AGENT, "conform: ask");
    expect((await client.runResumeAsync(later.run_id, resume("43"))).run_id).toBe(later.run_id);
    expect(summary(await until(client, later.run_id, "completed")).output).toEqual(["the answer was: 43"]);

    const events = await collect(client.runStream(AGENT, "conform: ask"));
    expect(events.at(-1)?.type).toBe("run.awaiting");
    const rest = await collect(client.runResumeStream(runOf(events[0]).run_id, resume("44")));
    expect(rest.map(line).filter((each) => each !== "generic")).toEqual([
      "run.in-progress",
      "message.created",
      "message.part the answer was: 44",
      "message.completed",
      "run.completed",
    ]);
  });

  test("cancels a run, and its stream ends", async () => {
    const events = client.runStream(AGENT, "conform: wait");
    const { run_id: id } = runOf((await events.next()).value ?? undefined);
    await until(client, id, "in-progress");
    const rest = collect(events);
    expect((await client.runCancel(id)).status).toBe("cancelling");
    expect((await rest).at(-1)?.type).toBe("run.cancelled");
    expect((await client.runStatus(id)).status).toBe("cancelled");
  });

  test("receives the reason of a failed run, and no details of an agent's exception", async () => {
    expect(await client.runSync(AGENT, "conform: fail")).toMatchObject({ status: "failed", error: { message: "as commanded" } });
    expect(await client.runSync(AGENT, "conform: reject")).toMatchObject({ status: "failed", error: { code: "server_error" } });
    const thrown = await client.runSync(AGENT, "conform: throw");
    expect(thrown.status).toBe("failed");
    expect(JSON.stringify(thrown)).not.toContain("inner secret");
  });

  test("every kind of part crosses in both directions", async () => {
    const parts: Message["parts"] = [
      { content_type: "text/plain", content_encoding: "plain", content: "conform: echo" },
      { name: "four.bin", content_type: "image/x-four", content_encoding: "base64", content: "AAH+/w==" },
      { content_type: "text/html", content_encoding: "plain", content_url: "https://files.example/page.html" },
      { content_type: "application/json", content_encoding: "plain", content: '{"deep":[1,{"ok":true}]}' },
      {
        content_type: "text/plain",
        content_encoding: "plain",
        content: "cited",
        metadata: { kind: "citation", url: "https://source.example/" },
      },
    ];
    const { output } = await client.runSync(AGENT, [messageOf(parts)]);
    const { name: _, ...unnamed } = parts[1] ?? {};
    expect(output.flatMap((message) => message.parts)).toMatchObject(parts.map((part, at) => (at === 1 ? unnamed : part)));
  });

  test("runs of one session are of that session", async () => {
    const session = crypto.randomUUID();
    const runs = await client.withSession(
      async (inside) => [await inside.runSync(AGENT, "one"), await inside.runSync(AGENT, "two")],
      session,
    );
    expect(runs.map(({ session_id: id }) => id)).toEqual([session, session]);
  });

  test("every refusal is the SDK's own error", async () => {
    const { run_id: done } = await client.runSync(AGENT, "hello");
    const refusals = await Promise.allSettled([
      client.agent("nobody"),
      client.runSync("nobody", "hello"),
      collect(client.runStream("nobody", "hello")),
      client.runStatus(UNKNOWN),
      client.runEvents(UNKNOWN),
      client.runCancel(UNKNOWN),
      client.runResumeSync(UNKNOWN, resume("42")),
      client.runCancel(done),
      client.runResumeSync(done, resume("42")),
      client.runStatus("no-uuid"),
    ]);
    expect(refusals.map(codeOf)).toEqual([
      "not_found",
      "not_found",
      "not_found",
      "not_found",
      "not_found",
      "not_found",
      "not_found",
      "server_error",
      "server_error",
      "invalid_input",
    ]);
    expect(summary(await client.runSync(AGENT, "still there?")).output).toEqual(["you said: still there?"]);
  });
});

describe("npm acp-sdk 1.0.3 with a bearer token", () => {
  let server: Server;
  beforeAll(async () => {
    server = await startGuardedKoine();
  });
  afterAll(() => server?.close());

  const clientOf = (token: string): AcpSdk.Client =>
    new Client({
      baseUrl: server.url,
      fetch: (url, init) => fetch(url, { ...init, headers: { ...Object(init?.headers), authorization: `Bearer ${token}` } }),
    });

  test("sees only its own runs", async () => {
    const [alice, bob] = [clientOf(ALICE), clientOf(BOB)];
    const { run_id: id } = await alice.runSync(AGENT, "conform: ask");
    expect((await alice.runStatus(id)).run_id).toBe(id);
    const refusals = await Promise.allSettled([
      bob.runStatus(id),
      bob.runEvents(id),
      bob.runCancel(id),
      bob.runResumeSync(id, resume("42")),
    ]);
    expect(refusals.map(codeOf)).toEqual(new Array(4).fill("not_found"));
    expect((await alice.runStatus(id)).status).toBe("awaiting");
  });

  test("is refused without one, in a form the SDK reads", async () => {
    const refusals = await Promise.allSettled([new Client({ baseUrl: server.url }).runSync(AGENT, "hello")]);
    expect(refusals.map(codeOf)).toEqual(["server_error"]);
  });
});

const textOf = (message: Message | undefined): string => (message?.parts ?? []).map(({ content }) => content ?? "").join("");

function summary({ status, output }: Run): { readonly status: string; readonly output: readonly string[] } {
  return { status, output: output.map(textOf) };
}

function runOf(event: AcpSdk.Event | undefined): Run {
  if (event === undefined || !("run" in event)) throw new Error(`an event with a run was expected, not ${event?.type}`);
  return event.run;
}

function line(event: AcpSdk.Event): string {
  return event.type === "message.part" ? `message.part ${event.part.content}` : event.type;
}

const LOOKS = 200;

/** Polls a run until its status is reached: the protocol has no other way to wait. */
async function until(client: AcpSdk.Client, id: string, status: Run["status"]): Promise<Run> {
  for (let look = 0; look < LOOKS; look++) {
    const run = await client.runStatus(id);
    if (run.status === status) return run;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`the run did not become ${status}`);
}

function codeOf(outcome: PromiseSettledResult<unknown>): string {
  if (outcome.status === "fulfilled") return "no error";
  const { reason } = outcome;
  if (reason instanceof ACPError) return reason.code;
  return reason instanceof HTTPError ? `HTTP ${reason.statusCode}` : String(reason);
}
