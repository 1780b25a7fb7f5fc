import { afterAll, beforeAll, expect, test } from "vitest";
import { agent } from "../../../server/agent.js";
import { type Server, serve } from "../../../server/serve.js";

/** `POST /message` as in G.7 of the seed. */

const ran: string[] = [];
let server: Server;
beforeAll(async () => {
  const worker = agent({
    name: "worker",
    description: "repeats",
    async *handle(message) {
      ran.push(message.text);
      yield "you ";
      yield "said: ";
      yield message.text;
    },
  });
  server = await serve(worker);
});
afterAll(() => server?.close());

async function post(body: unknown, headers: { readonly [name: string]: string } = {}) {
  const response = await fetch(`${server.url}/message`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

const request = (text: string, id: string, context = {}) => ({
  id,
  params: { message: { text }, context, routing: { destination: "worker", source: "agent_A" } },
});

test("works once for an id that is a UUID", async () => {
  const [one, other] = [crypto.randomUUID(), crypto.randomUUID()];
  for (const id of [one, one, other, "1", "1"]) expect((await post(request("once", id))).text).toContain("you said: once");
  expect(ran.splice(0)).toHaveLength(4);
  expect(await post(request("something else", one))).toMatchObject({ status: 409, text: expect.stringContaining("E_PROTOCOL") });
});

test("continues a stream after Last-Event-ID, without working again", async () => {
  const body = request("streamed", crypto.randomUUID());
  const events = { accept: "text/event-stream" };
  const whole = (await post(body, events)).text;
  const ids = [...whole.matchAll(/^id: (.+)$/gm)].map(([, id]) => id ?? "");
  expect(ids.length).toBeGreaterThanOrEqual(3);
  const rest = (await post(body, { ...events, "last-event-id": ids[1] ?? "" })).text;
  expect(rest).toContain("streamed");
  expect([...rest.matchAll(/^id: (.+)$/gm)].length).toBeLessThan(ids.length);
  expect(ran.splice(0)).toEqual(["streamed"]);
});

test("reads parts as reference clients write them", async () => {
  const parts = [
    { type: "json", text: { city: "Bern" } },
    { kind: "text", text: "and words" },
  ];
  const answer = await post({ id: crypto.randomUUID(), params: { message: { parts } } });
  expect([answer.status, ran.splice(0)]).toEqual([200, ["and words"]]);
});
