import { afterEach, expect, test } from "vitest";
import { agent, mount } from "../../../index.js";
import { createMemoryStore } from "../../../tasks/index.js";
import { makeRequest } from "../../../transport/request.js";
import { acp } from "../index.js";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Status and document of both health checks. */
async function checks({ usable, storeAnswers }: { readonly usable: boolean; readonly storeAnswers: boolean }) {
  const worker = agent({ name: "worker", description: "works", handle: () => "done" });
  const store = createMemoryStore({ now: Date.now });
  const ping = storeAnswers ? async () => undefined : () => Promise.reject(new Error("no store"));
  const { exchange, close } = mount(
    { ...worker, health: async () => ({ usable, problems: [] }) },
    { protocols: [acp], publicUrl: "http://agent.example", store: Object.assign(store, { ping }) },
  );
  closing.push(close);
  const ask = async (path: string) => {
    const { status, body } = await exchange(makeRequest({ method: "GET", url: `http://agent.example${path}` }));
    return [status, JSON.parse(String(body))] as const;
  };
  return { ping: await ask("/ping"), status: await ask("/acp/status") };
}

test("a server that can answer says so", async () => {
  const { ping, status } = await checks({ usable: true, storeAnswers: true });
  expect([ping, status]).toMatchObject([
    [200, {}],
    [200, { agent_id: "worker", status: "healthy" }],
  ]);
});

test("an agent that cannot answer is unhealthy; the server still takes calls for others", async () => {
  const { ping, status } = await checks({ usable: false, storeAnswers: true });
  expect([ping, status]).toMatchObject([
    [200, {}],
    [503, { agent_id: "worker", status: "unhealthy" }],
  ]);
});

test("a server without its store takes no calls", async () => {
  const { ping, status } = await checks({ usable: true, storeAnswers: false });
  expect([ping, status]).toMatchObject([
    [503, { code: "server_error" }],
    [503, { status: "unhealthy" }],
  ]);
});
