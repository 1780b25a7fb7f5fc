import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agent, type Server, serve } from "../src/index.js";
import { apiKeys } from "../src/public/auth.js";

/** The card of one server, as readers with different `User-Agent` headers get it. The headers are those that the SDKs send. */

const GO = "Go-http-client/1.1";
const HTTPX = "python-httpx/0.28.1";
const JAVA = "Java-http-client/17.0.15";

interface CardDocument {
  readonly url?: string;
  readonly supportedInterfaces?: readonly unknown[];
  readonly securityRequirements?: unknown;
  readonly skills: readonly { readonly inputModes?: unknown; readonly outputModes?: unknown }[];
}

const open: Server[] = [];
afterAll(() => Promise.all(open.map((server) => server.close())));

async function serveSecured(cardForm?: string): Promise<Server> {
  const admission = apiKeys(new Map([["ann", "a-key-of-ann-0123456789"]]), { location: "header", name: "X-Api-Key" });
  const echo = agent({
    name: "echo",
    description: "echoes",
    inputModes: ["text/plain"],
    outputModes: ["text/html"],
    handle: () => "",
  });
  const server = await serve(echo, { port: 0, admission, ...(cardForm && { settings: { a2a: { cardForm } } }) });
  open.push(server);
  return server;
}

async function read(server: Server, headers: Record<string, string>, path = "/.well-known/agent-card.json") {
  const response = await fetch(server.url + path, { headers });
  const card = response.status === 200 ? ((await response.json()) as CardDocument) : undefined;
  return { card, status: response.status, etag: response.headers.get("etag") ?? "", vary: response.headers.get("vary") };
}

describe("the card for a reader without a version", () => {
  let server: Server;
  beforeAll(async () => {
    server = await serveSecured();
  });

  // The forms of `SecurityRequirement` in a2a.proto (ProtoJSON), and in a2a-go 2.4.0, a2a/auth.go.
  const LIST = [{ schemes: { apiKey: { list: [] } } }];
  const ARRAY = [{ schemes: { apiKey: [] } }];

  test.each([
    ["a2a-go", GO, ARRAY],
    ["a2a-python", HTTPX, LIST],
    ["the Java SDK", JAVA, LIST],
    ["an unknown one", "curl/8.5.0", LIST],
    ["one that only contains a known name", `my-proxy (${GO})`, LIST],
  ])("%s gets the scopes of requirements as it reads them", async (_, agent, expected) => {
    const { card } = await read(server, { "user-agent": agent });
    expect(card?.securityRequirements).toEqual(expected);
    expect([card?.supportedInterfaces === undefined, card?.url === undefined]).toEqual([false, false]);
  });

  test("FastA2A gets the media types of every skill", async () => {
    const { card } = await read(server, { "user-agent": HTTPX });
    expect(card?.skills).toMatchObject([{ inputModes: ["text/plain"], outputModes: ["text/html"] }]);
  });

  test("others do not", async () => {
    const { card } = await read(server, { "user-agent": GO });
    expect(card?.skills.map((skill) => Object.keys(skill).filter((key) => key.endsWith("Modes")))).toEqual([[]]);
  });

  test("a reader that names its version gets it as specified", async () => {
    const { card } = await read(server, { "user-agent": GO, "a2a-version": "1.0" });
    expect([card?.securityRequirements, card?.url]).toEqual([LIST, undefined]);
  });
});

describe("caches", () => {
  test.each(["/.well-known/agent-card.json", "/.well-known/agent.json"])("keep the cards at %s apart", async (path) => {
    const server = await serveSecured();
    const go = await read(server, { "user-agent": GO }, path);
    expect(go.vary?.split(/,\s*/)).toEqual(expect.arrayContaining(["A2A-Version", "User-Agent"]));
    const again = await read(server, { "user-agent": GO, "if-none-match": go.etag }, path);
    const other = await read(server, { "user-agent": "curl/8.5.0", "if-none-match": go.etag }, path);
    expect([again.status, again.vary, other.status]).toEqual([304, go.vary, 200]);
  });

  test("see one card for all readers where the form is configured", async () => {
    const server = await serveSecured("both");
    const go = await read(server, { "user-agent": GO });
    const other = await read(server, { "user-agent": "curl/8.5.0", "if-none-match": go.etag });
    expect([go.vary, other.status]).toEqual(["A2A-Version", 304]);
  });
});
