import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { agent, type Server, serve } from "../../src/index.js";
import { apiKeys } from "../../src/public/auth.js";
import { peerProgram } from "../../tools/peers.mjs";
import { pythonFor, runProgram, runScript } from "./python.js";

/** Clients of other projects read the card of a server that requires an API key: what `card/readers.ts` says about them. */

const koine = agent({ name: "koine", description: "d", handle: () => "" });
let server: Server;
let open: Server;
beforeAll(async () => {
  const admission = apiKeys(new Map([["ann", "a-key-of-ann-0123456789"]]), { location: "header", name: "X-Api-Key" });
  server = await serve(koine, { port: 0, admission });
  open = await serve(koine, { port: 0 });
});
afterAll(() => Promise.all([server?.close(), open?.close()]));

test.for(["go", "rust"] as const)("the client in %s", async (language, { skip }) => {
  const program = peerProgram(language);
  skip(!existsSync(program), "the peer is not built");
  expect(await runProgram(spawn(program, ["card", server.url]))).toEqual({ card: "koine" });
});

test.for(["a2a-1.3.0", "a2a-0.3.3"] as const)("the client of %s", async (environment, { skip }) => {
  skip(pythonFor(environment) === undefined, "the Python library is not installed");
  expect(await runScript({ environment, file: "read_card" }, server.url)).toEqual({ card: "koine" });
});

test.skipIf(pythonFor("pydantic-ai-2.66.0") === undefined)("FastA2A reads a card without authentication only", async () => {
  const read = (url: string) => runScript({ environment: "pydantic-ai-2.66.0", file: "read_card" }, url);
  expect(await read(open.url)).toEqual({ card: "koine" });
  // Its scopes are arrays; a2a-python, which has the same User-Agent, reads those of the specification only.
  await expect(read(server.url)).rejects.toThrow("Input should be a valid list");
});
