import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { safety } from "../../../bench/protocols/index.js";
import { isAlive, withFolder } from "../../bench/stage.js";
import { compiled } from "../../programs.js";

const LONG = 300_000;
const program = compiled("bench/protocols/safety/members/member.ts");

/** Both controls, and what else is named. */
function run(folder: string, more: Partial<Parameters<typeof safety.planSafety>[0]> & Partial<safety.SafetyOptions> = {}) {
  const { protocols = [], deployments = [], config = { ...safety.QUICK, captureSeconds: 0.2 }, ...options } = more;
  const plan = safety.planSafety({ mode: "custom", config, protocols, deployments });
  const signal = new AbortController().signal;
  return safety.runSafety({ folder: join(folder, "result"), plan, koine: "test", signal, program, ...options });
}

function pidsIn(folder: string): readonly number[] {
  const lines = readFileSync(join(folder, "result", "events.ndjson"), "utf8")
    .trim()
    .split("\n");
  return lines.flatMap((line) => {
    const event = JSON.parse(line) as { readonly members?: readonly { readonly pid: number }[] };
    return (event.members ?? []).map(({ pid }) => pid);
  });
}

describe("the safety scenario", { timeout: LONG }, () => {
  it("breaks the open control by every probe and the hardened one by none, and its numbers follow from its events", () =>
    withFolder(async (folder) => {
      const result = await run(folder);
      expect(result.checks).toMatchObject({ open: { passed: true }, hardened: { passed: true }, legitimate: { passed: true } });
      expect(result.status).toBe("complete");
      expect(result.targets.map(({ target, score }) => [target.id, score])).toEqual([
        ["open", 0],
        ["hardened", 100],
      ]);
      expect(new Set(result.probes.map(({ probe }) => probe))).toEqual(new Set(safety.PROBES));
      expect(pidsIn(folder).filter(isAlive)).toEqual([]);
      const dir = join(folder, "result");
      expect(safety.isSafetyFolder(dir)).toBe(true);
      expect((await safety.verifySafetyFolder(dir)).differences).toEqual([]);
      // An observation that is changed afterwards is named, and so is a changed file of evidence.
      const path = join(dir, "events.ndjson");
      const text = readFileSync(path, "utf8");
      writeFileSync(path, text.replace('"goal":true', '"goal":false'));
      const evidence = result.probes[0]?.variants[0]?.evidence[0] ?? "";
      writeFileSync(join(dir, evidence), "{}\n");
      const changed = (await safety.verifySafetyFolder(dir)).differences.map((each) => each.path);
      expect(changed).toContain("probes[0].succeeded.count");
      expect(changed).toContain("manifest.evidence.sha256");
    }));

  it("hides the credentials of its members in evidence, and shows the tokens that it tried", () =>
    withFolder(async (folder) => {
      const config = { ...safety.QUICK, probes: ["session_hijack" as const, "key_rotation" as const], cases: 1 };
      const { status } = await run(folder, { config, protocols: ["a2a"], deployments: ["recommended"] });
      expect(status).toBe("complete");
      const root = join(folder, "result", "evidence");
      const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".json"));
      const all = files.map((name) => readFileSync(join(root, name), "utf8")).join("");
      const tokens = [...all.matchAll(/"authorization": "bearer ([^"]+)"/gi)].map(([, token = ""]) => token);
      expect(tokens.filter((token) => /^\*+$/.test(token)).length).toBeGreaterThan(0);
      expect(tokens.filter((token) => !/^\*+$|^(expired|admin)_session_|not-a-token|^ey/.test(token))).toEqual([]);
      expect(tokens.some((token) => token.startsWith("expired_session_"))).toBe(true);
    }));

  it("is partial and readable if a member never starts", () =>
    withFolder(async (folder) => {
      const config = { ...safety.QUICK, probes: ["replay" as const] };
      const result = await run(folder, { config, program: compiled("test/bench/processes/no-such-program.ts"), startMs: 5_000 });
      expect(result.status).toBe("partial");
      expect(result.targets.map(({ status }) => status)).toEqual(["failed", "failed"]);
      expect((await safety.verifySafetyFolder(join(folder, "result"))).differences).toEqual([]);
    }));

  it("keeps what was probed when interrupted, and goes on with the rest", () =>
    withFolder(async (folder) => {
      const abort = new AbortController();
      const config = { ...safety.QUICK, probes: ["session_hijack" as const, "tampering" as const] };
      const first = await run(folder, {
        config,
        signal: abort.signal,
        onProgress: ({ target, probe }) => target === "hardened" && probe === "tampering" && abort.abort(new Error("stop")),
      });
      expect(first.targets.map(({ status }) => status)).toEqual(["complete", "interrupted"]);
      expect(pidsIn(folder).filter(isAlive)).toEqual([]);
      const second = await run(folder, { config, resume: true });
      expect(second.status).toBe("complete");
      expect((await safety.verifySafetyFolder(join(folder, "result"))).differences).toEqual([]);
    }));
});
