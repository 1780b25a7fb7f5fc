import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AgentError, agent, connect, ERRORS, serve } from "../src/index.js";
import { bearerTokens, openAuditFile } from "../src/public/auth.js";

/** The error classes of the seeds stand beside our codes wherever an error is reported. */

test("every code has one of the seven classes of G.1", () => {
  const classes = new Set(Object.values(ERRORS).map(({ face }) => face));
  expect([...classes].sort()).toEqual(["E_CONN", "E_DECODE", "E_ENCODE", "E_HTTP", "E_PROTOCOL", "E_TIMEOUT", "E_UNSUPPORTED"]);
});

test("the audit log has both", async () => {
  const folder = await mkdtemp(join(tmpdir(), "koine-faces-"));
  const path = join(folder, "audit.log");
  const audit = openAuditFile(path);
  const worker = agent({ name: "worker", description: "answers", handle: () => "done" });
  const server = await serve(worker, { admission: bearerTokens(new Map([["alice", "a-good-token-0123456789"]])), audit });
  try {
    const refused = await connect(server.url, { credentials: { bearer: "a-wrong-token-0123456789" } })
      .then((peer) => peer.ask("hello").finally(() => peer.close()))
      .catch((thrown: unknown) => AgentError.from(thrown));
    expect(refused).toMatchObject({ code: "unauthenticated", face: "E_HTTP" });
  } finally {
    await server.close();
    await audit.close();
  }
  const lines = (await readFile(path, "utf8"))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly event: string });
  const refusals = lines.filter(({ event }) => event === "refused" || event === "probed");
  expect(refusals.length).toBeGreaterThan(0);
  for (const line of refusals) expect(line).toMatchObject({ code: "unauthenticated", face: "E_HTTP" });
  await rm(folder, { recursive: true });
});
