import { Command } from "commander";
import { afterEach, describe, expect, test, vi } from "vitest";
import { addMcp } from "./commands/mcp.js";
import { EXIT } from "./exit.js";
import { problemOf } from "./problem.js";

/** Usage errors, reported before anything is served. */
async function problemWith(...args: readonly string[]): Promise<string> {
  const program = new Command("koine").exitOverride();
  addMcp(program);
  const problem = await program.parseAsync(["mcp", ...args], { from: "user" }).then(() => undefined, problemOf);
  return problem?.exit === EXIT.usage ? problem.message : `no usage error: ${problem?.message}`;
}

describe("koine mcp", () => {
  afterEach(() => vi.unstubAllEnvs());

  test.each([
    [[], "there is no agent to offer"],
    [["localhost:8080"], '"localhost:8080" is not a URL'],
    [["a b=http://127.0.0.1:1"], '"a b" cannot be the name of a tool'],
    [["x=http://127.0.0.1:1", "X=http://127.0.0.1:2"], "two agents are called x"],
    [["--gateway", "ftp://127.0.0.1"], "agents are reached by http and https, not by ftp:"],
    [["http://user:secret@127.0.0.1:1"], "credentials are not allowed in a URL"],
  ])("%j: %s", async (args, message) => {
    expect(await problemWith(...args)).toBe(message);
  });

  test("does not send the token of one host to another", async () => {
    vi.stubEnv("KOINE_TOKEN", "a-token-0123456789");
    expect(await problemWith("http://127.0.0.1:1", "http://127.0.0.1:2")).toBe(
      "the same credentials would be shown to 2 hosts: http://127.0.0.1:1, http://127.0.0.1:2",
    );
  });
});
