import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { featureRows } from "../../src/router/index.js";
import { openSettings, type SettingOptions } from "./route-settings.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "koine-route-settings-"));
  await writeFile(join(folder, "good.yaml"), "ranking: [anp, ACP]\n");
  await writeFile(join(folder, "bad.json"), '{"ranking": ["ACP", "gopher"]}');
});
afterAll(() => rm(folder, { recursive: true }));

const opened = (options: Partial<SettingOptions>) => openSettings({ scope: "module", abstain: "ask", ...options }, featureRows());

describe("openSettings()", () => {
  it("defaults to four candidates and to asking", async () => {
    const { settings } = await opened({});
    expect(settings.candidates?.map(({ name }) => name)).toEqual(["A2A", "ACP", "Agora", "ANP"]);
    expect(settings).toMatchObject({ abstain: { kind: "ask" }, scope: "module", priority: undefined, ranking: undefined });
  });

  it("takes candidates by id or name in the order given, and each once", async () => {
    const { settings } = await opened({ candidates: "anp, Agora,ANP", abstain: "default:AGORA" });
    expect(settings.candidates?.map(({ name }) => name)).toEqual(["ANP", "Agora"]);
    expect(settings.abstain).toEqual({ kind: "default", protocol: "Agora" });
  });

  it("takes an order of priority, parts to leave out, and a ranking", async () => {
    const { settings } = await opened({
      priority: "interaction,identity",
      without: "narrative,locks",
      ranking: join(folder, "good.yaml"),
    });
    expect(settings).toMatchObject({
      priority: ["interaction", "identity"],
      without: ["narrative", "locks"],
      ranking: ["ANP", "ACP"],
    });
  });

  it("opens a model for --abstain model, and closes it", async () => {
    const { settings, close } = await opened({ abstain: "model", modelUrl: "http://127.0.0.1:9/v1", model: "none" });
    expect(settings.abstain?.kind).toBe("model");
    await close();
  });

  it.each([
    [{ candidates: "a2a,gopher" }, '--candidates: no protocol is called "gopher"', "There are: a2a, acp, agora, anp, sage"],
    [{ candidates: " , " }, "--candidates is an empty list", undefined],
    [{ priority: "speed" }, '--priority: "speed" is not known', "There are: identity, operations, interaction"],
    [{ without: "luck" }, '--without: "luck" is not known', expect.stringContaining("narrative")],
    [{ abstain: "coin" }, '--abstain: "coin" is not known', "It is ask, default:<protocol>, or model."],
    [{ abstain: "default" }, '--abstain default: no protocol is called "default"', expect.anything()],
    [{ abstain: "default:anp", candidates: "a2a,acp" }, '--abstain default: no protocol is called "anp"', "There are: a2a, acp"],
    [{ abstain: "model" }, "--abstain model needs a model", "Give --model-url and --model."],
    [{ ranking: "/nowhere/at-all" }, "the file /nowhere/at-all cannot be read (ENOENT)", undefined],
  ])("refuses %j as a usage error", async (options, message, hint) => {
    await expect(opened(options)).rejects.toMatchObject({ exit: 2, message, hint });
  });

  it("refuses a ranking without known protocols, with the file's name", async () => {
    await expect(opened({ ranking: join(folder, "bad.json") })).rejects.toMatchObject({
      exit: 1,
      message: expect.stringMatching(/bad\.json: ranking\[1\] names no protocol: "gopher"; there are: /),
    });
  });
});
