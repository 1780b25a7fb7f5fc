import { afterEach, describe, expect, test } from "vitest";
import { type Bench, Benches, ended, eventsIn, runOf, type Tree } from "../../../../test/wires/acp-bench.js";
import { acp } from "../index.js";

const benches = new Benches(acp);
const bench = benches.open;
afterEach(benches.close);

const types = (events: readonly Tree[]): readonly unknown[] => events.map(({ type }) => type);
const SSE = { accept: "text/event-stream" };

async function followed(
  on: Bench,
  runId: string,
  headers = {},
): Promise<readonly { readonly id: string | undefined; readonly data: Tree }[]> {
  const all: { readonly id: string | undefined; readonly data: Tree }[] = [];
  const response = await on.fetch(`/runs/${runId}/events`, { headers: { ...SSE, ...headers } });
  for await (const event of eventsIn(response)) all.push(event);
  return all;
}

describe("GET /runs/{run_id}/events", () => {
  test("returns the whole log as one document, as it was streamed", async () => {
    const on = bench();
    const streamed = await on.postStream("/runs", runOf("tokens a b", { mode: "stream" }));
    const runId = JSON.stringify(streamed.at(-1)).match(/"run_id":"([^"]+)"/)?.[1];
    const { status, headers, body } = await on.get(`/runs/${runId}/events`);
    expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(types(body.events)).toEqual(types(streamed));
    expect(body.events.at(-1)).toEqual(streamed.at(-1));
  });

  test("returns the log up to now, without waiting", async () => {
    const on = bench();
    const { body: run } = await on.post("/runs", runOf("wait", { mode: "async" }));
    const { body } = await on.get(`/runs/${run.run_id}/events`);
    expect(body.events[0]).toMatchObject({ type: "run.created", run: { run_id: run.run_id, status: "created" } });
    expect(types(body.events)).not.toContain("run.completed");
  });

  test("is rejected if the log is far longer than any body, and still available as a stream", async () => {
    const on = bench({ limits: { bodyBytes: 600 } });
    const { body: run } = await on.post("/runs", runOf(`tokens ${"a ".repeat(50)}`, { mode: "sync" }));
    const { status, body } = await on.get(`/runs/${run.run_id}/events`);
    expect([status, body]).toMatchObject([413, { code: "invalid_input", data: { code: "too_large" } }]);
    expect((await followed(on, run.run_id)).at(-1)?.data).toMatchObject({ type: "run.completed" });
  });

  test("contains the turn with the question and the one that followed", async () => {
    const on = bench();
    const { body: run } = await on.post("/runs", runOf("ask"));
    const message = { role: "user", parts: [{ content_type: "text/plain", content: "Bern" }] };
    await on.post(`/runs/${run.run_id}`, { await_resume: { type: "message", message }, mode: "sync" });
    const { body } = await on.get(`/runs/${run.run_id}/events`);
    expect(types(body.events)).toEqual([
      "run.created",
      "run.in-progress",
      "run.awaiting",
      "run.in-progress",
      "message.created",
      "message.part",
      "message.completed",
      "run.completed",
    ]);
  });
});

describe("GET /runs/{run_id}/events as an event stream", () => {
  test("delivers the log, then further events", async () => {
    const on = bench();
    const { body: run } = await on.post("/runs", runOf("halfway", { mode: "async" }));
    const isHalfway = async () => types((await on.get(`/runs/${run.run_id}/events`)).body.events).includes("generic");
    while (!(await isHalfway())) await new Promise((resolve) => setImmediate(resolve));
    const response = await on.fetch(`/runs/${run.run_id}/events`, { headers: SSE });
    const seen: unknown[] = [];
    for await (const { data } of eventsIn(response)) {
      seen.push(data["type"]);
      if (data["type"] === "generic") on.gate.open();
    }
    expect(seen).toEqual([
      "run.created",
      "run.in-progress",
      "generic",
      "message.created",
      "message.part",
      "message.completed",
      "run.completed",
    ]);
  });

  test("delivers a finished run from its beginning to its end", async () => {
    const on = bench();
    const { body: run } = await on.post("/runs", runOf("hello"));
    const events = await followed(on, run.run_id);
    expect([events[0]?.data["type"], events.at(-1)?.data["type"]]).toEqual(["run.created", "run.completed"]);
  });

  test("resumes after the last received event", async () => {
    const on = bench();
    const { body: run } = await on.post("/runs", runOf("tokens a b c", { mode: "async" }));
    await ended(on, run.run_id);
    const all = await followed(on, run.run_id);
    const cut = all.findIndex(({ data, id }) => data["type"] === "message.part" && id !== undefined);
    const rest = await followed(on, run.run_id, { "last-event-id": all[cut]?.id ?? "" });
    const parts = (events: typeof all): readonly unknown[] =>
      events.filter(({ data }) => data["type"] === "message.part").map(({ data }) => (data["part"] as Tree)["content"]);
    expect(parts(rest)).toEqual(parts(all.slice(cut + 1)));
    expect(parts(rest).length).toBeGreaterThan(0);
    expect(rest.at(-1)?.data).toEqual(all.at(-1)?.data);
  });

  test("rejects a cursor of another run before streaming", async () => {
    const on = bench();
    const { body: run } = await on.post("/runs", runOf("hello"));
    const { status, body } = await on.get(`/runs/${run.run_id}/events`, { ...SSE, "last-event-id": "nonsense" });
    expect([status, body.code]).toEqual([422, "invalid_input"]);
  });
});
