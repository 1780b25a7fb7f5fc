import { existsSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scriptedModelServer } from "../scripted-model.js";
import { type Desk, koine, newDesk, type Serving, serving } from "./koine.js";

const WEATHER = '---\nname: Weather\ndescription: how warm it is\n---\nSend {"city": string}, get {"temperature": integer}.\n';
/** SHA-1 of exactly that text, by `openssl dgst -sha1 -binary | base64`. */
const HASH = "MdfT6Lx8PjN7x+79v9dThEG2xJQ=";

const AGENT = `
import { agent } from ${JSON.stringify(pathToFileURL(resolve("src/index.ts")).href)};
export default agent({
  name: "weatherman",
  description: "Knows the weather",
  skills: [
    {
      id: "weather", name: "Weather", description: "how warm it is", tags: ["weather"],
      inputModes: ["application/json"], outputModes: ["application/json"],
      document: ${JSON.stringify(WEATHER)},
      handle: async (message) => ({ of: message.content[0].data.city, temperature: 21 }),
    },
  ],
  async *handle(message, task) {
    if (message.text === "ask") return task.ask("which city?");
    if (message.text === "reject") return task.reject("not today");
    yield "you said ";
    return message.text;
  },
});
`;

/** What the Python library answers at its least: no discovery document, words for words, every goodbye is fine. */
function plainAgora(): Promise<Server> {
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    if (request.method === "DELETE") return void response.end('{"status":"success"}');
    if (request.method !== "POST" || request.url !== "/") return void response.writeHead(404).end("<h1>Not Found</h1>");
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      const { body: said } = JSON.parse(body) as { readonly body: string }; // what our client writes
      response.end(JSON.stringify({ status: "success", body: `heard ${said}` }));
    });
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done(server)));
}

let desk: Desk;
let agent: string;
let server: Serving;
let stranger: Server;
let strangerUrl: string;
beforeAll(async () => {
  desk = await newDesk();
  agent = await desk.write("weatherman.mts", AGENT);
  await desk.write("weather.txt", WEATHER);
  [server, stranger] = await Promise.all([serving([agent, "--data", desk.path("data")]), plainAgora()]);
  strangerUrl = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`; // it listens on a port
}, 30_000);
afterAll(async () => {
  await server.stop();
  await new Promise((done) => stranger.close(done));
  await desk.clear();
});

const by = (protocol: string, ...words: readonly string[]) => koine(["send", server.url, ...words, "--protocol", protocol]);

describe.each(["acp", "agora"])("koine send --protocol %s", (protocol) => {
  test("answers, streams, asks, and is refused, with the same words and exit codes", async () => {
    const [whole, stream, question, refused, skill] = await Promise.all([
      by(protocol, "hello"),
      by(protocol, "hello", "--stream"),
      by(protocol, "ask"),
      by(protocol, "reject"),
      by(protocol, "--intent", "weather", "--data", '{"city":"Oslo"}'),
    ]);
    expect(whole).toEqual({ code: 0, stdout: "you said hello\n", stderr: "" });
    expect(stream).toMatchObject({ code: 0, stdout: "you said hello\n" });
    expect(question).toMatchObject({ code: 0, stdout: "which city?\n" });
    expect(refused).toMatchObject({ code: 0, stdout: "" });
    expect(refused.stderr).toContain("The task was rejected: not today");
    expect(skill).toEqual({ code: 0, stdout: '{"of":"Oslo","temperature":21}\n', stderr: "" });
    const [, taskId = "", manner = ""] = /--task (\S+) "…" (--protocol \w+)/.exec(question.stderr) ?? [];
    expect(manner).toBe(`--protocol ${protocol}`);
    expect(await by(protocol, "Oslo", "--task", taskId)).toEqual({ code: 0, stdout: "you said Oslo\n", stderr: "" });
  }, 30_000);
});

test("card get lists every way in, and documents by their hash", async () => {
  const [all, one, json] = await Promise.all([
    koine(["card", "get", server.url]),
    koine(["card", "get", server.url, "--protocol", "agora"]),
    koine(["card", "get", server.url, "--protocol", "acp", "-o", "json"]),
  ]);
  expect(all.stdout).toMatch(/^ +acp@0\.2 REST http:\S+$/m);
  expect(all.stdout).toMatch(/^ +agora@0\.2 HTTP http:\S+\/agora$/m);
  expect(one.stdout).toContain(`documents   ${HASH} weather, ${WEATHER.length} bytes\n`);
  expect(JSON.parse(json.stdout)).toMatchObject({
    ways: [{ protocol: "acp", version: "0.2", binding: "REST", url: server.url }],
    card: { name: "weatherman", input_content_types: ["text/plain", "application/json"] },
  });
}, 30_000);

test("what a protocol cannot carry is said, and where nobody can list nobody is told to", async () => {
  const file = desk.path("weather.txt");
  const [text, json, elsewhere, conflict] = await Promise.all([
    koine(["send", strangerUrl, "hello", "--file", file]),
    koine(["send", strangerUrl, "hello", "--file", file, "-o", "json"]),
    koine(["send", strangerUrl, "hello", "--protocol", "acp"]),
    by("acp", "one", "--idempotency-key", "k").then(() => by("acp", "other", "--idempotency-key", "k")),
  ]);
  expect(text).toMatchObject({ code: 0, stdout: "heard hello\n" });
  expect(text.stderr).toMatch(/^lost: message\.parts\[1\] \(.+\)$/m);
  expect(JSON.parse(json.stderr)).toMatchObject({ loss: { protocol: "agora", path: "message.parts[1]", kind: "raw" } });
  expect(elsewhere).toMatchObject({ code: 1, stdout: "" });
  expect(elsewhere.stderr).toContain("but not in acp\nhint: Without --protocol");
  expect(conflict.code).toBe(1);
  expect(conflict.stderr).not.toContain("koine task list");
}, 30_000);

describe("koine agora protocol", () => {
  const protocol = (...words: readonly string[]) => koine(["agora", "protocol", ...words]);

  test("adds to the store of a server that runs, and gives back every byte", async () => {
    const data = ["--data", desk.path("data")];
    expect(await protocol("add", desk.path("weather.txt"), ...data)).toEqual({
      code: 0,
      stdout: `${HASH}  Weather\n`,
      stderr: "",
    });
    const [list, show, served] = await Promise.all([
      protocol("list", ...data),
      protocol("show", HASH, ...data),
      fetch(`${server.url}/protocols/${encodeURIComponent(HASH)}`).then((response) => response.text()),
    ]);
    expect(list.stdout).toBe(`${HASH}  Weather: how warm it is  (0 uses, suitability unknown)\n`);
    expect(show.stdout).toBe(WEATHER);
    expect(served).toBe(WEATHER);
  }, 30_000);

  test("says what is wrong, with hints of its own, and makes no folder to look into", async () => {
    const empty = await desk.write("empty.txt", "");
    const nowhere = desk.path("nowhere");
    const [hash, nothing, unknown, missing, blank, unsaid, help] = await Promise.all([
      protocol("hash", desk.path("weather.txt")),
      protocol("list", "--data", nowhere),
      protocol("show", "x", "--data", desk.path("data"), "-o", "json"),
      protocol("hash", desk.path("none.txt")),
      protocol("add", empty, "--data", desk.path("data")),
      protocol("list"),
      koine(["agora", "--help"]),
    ]);
    expect(hash.stdout).toBe(`${HASH}\n`);
    expect([nothing.code, unknown.code, missing.code, blank.code, unsaid.code]).toEqual([2, 1, 2, 1, 2]);
    expect(nothing.stderr).toContain("there is no folder");
    expect(JSON.parse(unknown.stderr)).toEqual({
      error: { code: "not_found", message: 'no protocol document has the hash "x"' },
    });
    expect(missing.stderr).toContain("cannot be read (ENOENT)");
    expect(blank.stderr).toContain("is empty");
    expect(unsaid.stderr).toContain("Give --data DIR or --store");
    expect(help.stdout).toMatch(/^ +protocol +add, list, show, hash$/m);
    expect(existsSync(nowhere)).toBe(false);
  }, 30_000);
});

test("serve checks settings and the model before it listens", async () => {
  const serve = (...words: readonly string[]) => koine(["serve", agent, "--port", "0", ...words]);
  const [dialect, name, count, url, key, alone] = await Promise.all([
    serve("--set", "agora.dialect=klingon"),
    serve("--set", "agora.thresholds=5"),
    serve("--set", "acp.sessionRuns=0"),
    serve("--model", "m", "--model-url", "models"),
    serve("--model", "m", "--model-url", "http://127.0.0.1:1/v1", "--model-key-env", "NOT_SET"),
    serve("--model-key-env", "NOT_SET"),
  ]);
  expect([dialect, name, count, url, key, alone].map(({ code }) => code)).toEqual([2, 2, 2, 2, 2, 2]);
  expect(dialect.stderr).toContain("agora.dialect must be one of python, spec, demo");
  expect(name.stderr).toMatch(/no such setting\nhint: There are: dialect, /);
  expect(count.stderr).toContain("acp.sessionRuns must be a whole number");
  expect(url.stderr).toContain("--model-url takes an http or https address");
  expect(key.stderr).toContain("NOT_SET is not set");
}, 30_000);

test("a model answers plain language where it is told to, with the key of the variable that was named", async () => {
  const model = await scriptedModelServer(() => "It is mild.");
  const words = [
    "--model",
    "m",
    "--model-url",
    model.baseUrl,
    "--model-key-env",
    "SECRET",
    "--set",
    "agora.naturalLanguage=model",
  ];
  const served = await serving([agent, ...words], { SECRET: "sk-of-the-test" });
  const [agora, acp] = await Promise.all([
    koine(["send", served.url, "how is it?", "--protocol", "agora"]),
    koine(["send", served.url, "how is it?", "--protocol", "acp"]),
  ]);
  await served.stop();
  await model.close();
  expect(agora).toEqual({ code: 0, stdout: "It is mild.\n", stderr: "" });
  expect(acp).toEqual({ code: 0, stdout: "you said how is it?\n", stderr: "" });
  expect(model.asked.map(({ headers }) => headers.authorization)).toEqual(["Bearer sk-of-the-test"]);
}, 30_000);
