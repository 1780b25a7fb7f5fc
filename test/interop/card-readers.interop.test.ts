import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { agent, type Server, serve } from "../../src/index.js";
import { apiKeys } from "../../src/public/auth.js";
import { peerProgram } from "../../tools/peers.mjs";
import { pythonFor, runProgram, runScript } from "./python.js";

/** Clients of other projects read the card of a server that requires an API key: what `card/readers.ts` says about them. */

let server: Server;
beforeAll(async () => {
  const admission = apiKeys(new Map([["ann", "a-key-of-ann-0123456789"]]), { location: "header", name: "X-Api-Key" });
  server = await serve(agent({ name: "koine", description: "d", handle: () => "" }), { port: 0, admission });
});
afterAll(() => server?.close());

test.each(["go", "rust"] as const)("the client in %s", async (language) => {
  const program = peerProgram(language);
  if (!existsSync(program)) return;
  expect(await runProgram(spawn(program, ["card", server.url]))).toEqual({ card: "koine" });
});

test.each(["pydantic-ai-2.66.0", "a2a-1.3.0", "a2a-0.3.3"] as const)("the client of %s", async (environment) => {
  if (pythonFor(environment) === undefined) return;
  expect(await runScript({ environment, file: "read_card" }, server.url)).toEqual({ card: "koine" });
});
