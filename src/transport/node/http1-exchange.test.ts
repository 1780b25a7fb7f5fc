import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HttpResponse } from "../exchange.js";
import { requestListener } from "./request-listener.js";

/** What happened, in its order. */
let log: string[] = [];
let answers: (() => void)[] = [];
const arrived = async (count: number): Promise<void> => {
  while (answers.length < count) await turn();
};
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Notes when its answer is written, and what ran at the end of the turn in which it was ready. */
const listener = requestListener(
  () =>
    new Promise<HttpResponse>((resolve) => {
      answers.push(() => {
        setImmediate(() => log.push("end of turn"));
        resolve({ status: 200, headers: {}, body: "done" });
      });
    }),
);
const server = createServer((req, res) => {
  const write = res.write;
  res.write = ((...args: Parameters<ServerResponse["write"]>) => {
    log.push("written");
    return write.apply(res, args);
  }) as typeof write;
  listener(req, res);
});
let url = "";
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a listening TCP server has an address object
});
afterAll(() => server.close());

async function ask(calls: number): Promise<readonly string[]> {
  log = [];
  answers = [];
  const texts = Array.from({ length: calls }, async () => (await fetch(url, { method: "POST", body: "x" })).text());
  await arrived(calls);
  await turn();
  for (const answer of answers) answer();
  expect(await Promise.all(texts)).toEqual(texts.map(() => "done"));
  await turn();
  return log;
}

describe("an answer that comes in a later turn of the event loop than its request", () => {
  test("is written at once if no other request waits", async () => {
    expect(await ask(1)).toEqual(["written", "end of turn"]);
    expect(await ask(1)).toEqual(["written", "end of turn"]);
  });

  test("is written with the others of its turn, at its end", async () => {
    expect(await ask(2)).toEqual(["end of turn", "end of turn", "written", "written"]);
  });
});
