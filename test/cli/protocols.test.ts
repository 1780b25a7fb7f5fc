import { existsSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compiled } from "../programs.js";
import { scriptedModelServer } from "../scripted-model.js";
import { createWorkspace, koine, type Serving, serving, type Workspace } from "./koine.js";

const WEATHER = '---\nname: Weather\ndescription: how warm it is\n---\nSend {"city": string}, get {"temperature": integer}.\n';
/** SHA-1 of exactly this text, by `openssl dgst -sha1 -binary | base64`. */
const HASH = "MdfT6Lx8PjN7x+79v9dThEG2xJQ=";

const AGENT = `
import { agent } from ${JSON.stringify(pathToFileURL(compiled("src/index.ts")).href)};
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

/** The minimum that the Python library answers: no discovery document, text for text, and success for every DELETE. */
function plainAgora(): Promise<Server> {
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    if (request.method === "DELETE") return void response.end('{"status":"success"}');
    if (request.method !== "POST" || request.url !== "/") return void response.writeHead(404).end("<h1>Not Found</h1>");
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      const { body: received } = JSON.parse(body) as { readonly body: string }; // written by our client
      response.end(JSON.stringify({ status: "success", body: `heard ${received}` }));
    });
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done(server)));
}

let workspace: Workspace;
let agent: string;
let server: Serving;
let foreign: Server;
let foreignUrl: string;
beforeAll(async () => {
  workspace = await createWorkspace();
  agent = await workspace.write("weatherman.mjs", AGENT);
  await workspace.write("weather.txt", WEATHER);
  [server, foreign] = await Promise.all([serving([agent, "--data", workspace.path("data")]), plainAgora()]);
  foreignUrl = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}`; // it listens on a port
}, 30_000);
afterAll(async () => {
  await server.stop();
  await new Promise((done) => foreign.close(done));
  await workspace.clear();
});

const by = (protocol: string, ...words: readonly string[]) => koine(["send", server.url, ...words, "--protocol", protocol]);

describe.each(["acp", "agora"])("koine send --protocol %s", (protocol) => {
  test("answers, streams, asks and refuses with the same output and exit codes", async () => {
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
    const [, taskId = "", option = ""] = /--task (\S+) "…" (--protocol \w+)/.exec(question.stderr) ?? [];
    expect(option).toBe(`--protocol ${protocol}`);
    expect(await by(protocol, "Oslo", "--task", taskId)).toEqual({ code: 0, stdout: "you said Oslo\n", stderr: "" });
  }, 30_000);
});

test("card get lists every interface, and documents by their hash", async () => {
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

test("unsupported features are reported, and hints name only supported commands", async () => {
  const file = workspace.path("weather.txt");
  const [text, json, elsewhere, conflict] = await Promise.all([
    koine(["send", foreignUrl, "hello", "--file", file]),
    koine(["send", foreignUrl, "hello", "--file", file, "-o", "json"]),
    koine(["send", foreignUrl, "hello", "--protocol", "acp"]),
    by("acp", "one", "--idempotency-key", "k").then(() => by("acp", "other", "--idempotency-key", "k")),
  ]);
  const named = '[not included, because Agora carries text only: "weather.txt", text/plain, 103 bytes]';
  expect(text).toMatchObject({ code: 0, stdout: `heard hello\n${named}\n` });
  expect(text.stderr).toMatch(/^lost: message\.parts\[1\] \(.+\)$/m);
  expect(JSON.parse(json.stderr)).toMatchObject({ loss: { protocol: "agora", path: "message.parts[1]", kind: "raw" } });
  expect(elsewhere).toMatchObject({ code: 1, stdout: "" });
  expect(elsewhere.stderr).toContain("but does not support acp\nhint: Without --protocol");
  expect(conflict.code).toBe(1);
  expect(conflict.stderr).not.toContain("koine task list");
}, 30_000);

describe("koine agora protocol", () => {
  const protocol = (...words: readonly string[]) => koine(["agora", "protocol", ...words]);

  test("adds to the store of a running server, and returns every byte", async () => {
    const data = ["--data", workspace.path("data")];
    expect(await protocol("add", workspace.path("weather.txt"), ...data)).toEqual({
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

  test("reports errors with specific hints, and creates no folder for reading", async () => {
    const empty = await workspace.write("empty.txt", "");
    const nowhere = workspace.path("nowhere");
    const [hash, nothing, unknown, missing, blank, unsaid, help] = await Promise.all([
      protocol("hash", workspace.path("weather.txt")),
      protocol("list", "--data", nowhere),
      protocol("show", "x", "--data", workspace.path("data"), "-o", "json"),
      protocol("hash", workspace.path("none.txt")),
      protocol("add", empty, "--data", workspace.path("data")),
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

test("a model answers natural language where enabled, with the key of the named variable", async () => {
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
