import type { ServerResponse } from "node:http";
import { afterEach, expect, it } from "vitest";
import { z } from "zod";
import { type ScriptedModelServer, scriptedModelServer } from "../../../test/scripted-model.js";
import { openModel } from "./open-model.js";
import { retrying } from "./retrying.js";
import { askVotes } from "./votes.js";

let server: ScriptedModelServer | undefined;
afterEach(() => server?.close());
const never = new AbortController().signal;

type Step = string | ((response: ServerResponse) => void);

/** A live model behind HTTP that does one step after the other, and the pauses that are made between them. */
async function modelDoing(...steps: readonly Step[]) {
  let at = 0;
  server = await scriptedModelServer((_asked, response) => {
    const step = steps[at++];
    if (typeof step === "function") return void step(response);
    return step;
  });
  const pauses: number[] = [];
  const live = await openModel({ kind: "live", baseUrl: server.baseUrl, model: "small", timeoutMs: 20_000 });
  return { pauses, model: retrying(live, async (ms) => pauses.push(ms)) };
}

const refuse =
  (status: number, headers: Readonly<Record<string, string>> = {}) =>
  (response: ServerResponse): void =>
    void response.writeHead(status, headers).end();

it("asks again after the pause that the server names, or longer pauses of its own", async () => {
  const { model, pauses } = await modelDoing(refuse(429, { "retry-after": "7" }), refuse(503), refuse(500), "yes");
  expect(await model.answer("is it?", never)).toBe("yes");
  expect(pauses).toEqual([7_000, 1_000, 2_000]);
});

it("asks again after an answer that was cut off", async () => {
  const { model } = await modelDoing((response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    response.write('{"choices":[', () => response.destroy());
  }, "yes");
  expect(await model.answer("is it?", never)).toBe("yes");
});

it("gives up at once where asking again would not help, and after five times otherwise", async () => {
  const { model, pauses } = await modelDoing(refuse(401));
  await expect(model.answer("is it?", never)).rejects.toThrow("401");
  expect(pauses).toEqual([]);
  await server?.close();
  const busy = await modelDoing(...Array.from({ length: 6 }, () => refuse(429)), "never asked");
  await expect(busy.model.answer("is it?", never)).rejects.toThrow("429");
  expect(busy.pauses).toHaveLength(5);
});

it("does not wait for hours", async () => {
  const { model, pauses } = await modelDoing(refuse(429, { "retry-after": "3600" }));
  await expect(model.answer("is it?", never)).rejects.toThrow("429");
  expect(pauses).toEqual([]);
});

it("counts a reply that is no JSON as an unreadable vote, and does not ask again for it", async () => {
  const { model, pauses } = await modelDoing('{"is_correct": tr', refuse(429), '```json\n{"is_correct":true}\n```');
  const votes = await askVotes("judge", z.object({ is_correct: z.boolean() }), { model, times: 2, signal: never });
  expect(votes).toEqual([null, { is_correct: true }]);
  expect(pauses).toHaveLength(1);
});
