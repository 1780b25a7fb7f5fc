import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConfigError } from "./config-problem.js";
import { prepare } from "./prepare.js";
import { configFrom } from "./read-config.js";

describe("reading referenced credentials", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "koine-credentials-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function refusal(agent: object, env: NodeJS.ProcessEnv = {}): Promise<string> {
    const document = { agents: [{ name: "one", upstream: "http://127.0.0.1:9", ...agent }] };
    const refused: unknown = await Promise.resolve()
      .then(() => prepare(configFrom(document, { folder, env })))
      .catch((thrown: unknown) => thrown);
    expect(refused).toBeInstanceOf(ConfigError);
    return (refused as ConfigError).message; // checked above
  }

  it("a truncated key file is reported at its position in the configuration", async () => {
    await writeFile(join(folder, "keys.json"), '{"keys": [');
    expect(await refusal({ trust: { keys: ["keys.json"] } })).toBe(
      "agents[0].trust.keys[0] references keys.json, which is neither PEM nor JSON",
    );
  });

  it.each([
    ["a line break", "one\r\nx-more: two"],
    ["a letter beyond Latin-1", "schlüssel-Ω"],
  ])("a header with %s is rejected without quoting its value", async (_, value) => {
    const message = await refusal({ credentials: { headers: { "x-plan": { env: "PLAN" } } } }, { PLAN: value });
    expect(message).toBe("agents[0].credentials.headers.x-plan contains characters that are not allowed in a header");
  });

  it("an invalid header name is rejected before anything is sent", async () => {
    expect(await refusal({ credentials: { headers: { "x plan": "a" } } })).toBe(
      "agents[0].credentials.headers.x plan is not a valid header name",
    );
  });
});
