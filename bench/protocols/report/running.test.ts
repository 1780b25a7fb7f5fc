import { describe, expect, it } from "vitest";
import { inventedResult } from "../../../test/helpers/bench-result.js";
import { runningHtml } from "./running.js";

describe("runningHtml()", () => {
  const { plan, runs } = inventedResult({ runs: 2, requests: 12 });
  const [current] = plan.runs;
  if (current === undefined) throw new Error("no run");

  it("says how far it is, what is running and how long it will take, and loads itself again", () => {
    const html = runningHtml({ plan, done: 3, current, remainingMs: 125_000, ended: runs.slice(0, 3) });
    expect(html).toContain(`<progress max="12" value="3"`);
    expect(html).toContain("3 of 12 runs are done, about 2 min 5 s left. Now: alpha, closed-1.");
    expect(html).toContain(`http-equiv="refresh" content="5"`);
    expect(html.match(/<th scope="row">/g)).toHaveLength(3);
    expect(html).not.toContain("<script");
  });
  it("promises nothing before the first run has ended", () =>
    expect(runningHtml({ plan, done: 0, current, remainingMs: undefined, ended: [] })).toContain("known after the first run"));
  it("counts runs that failed, and escapes names", () => {
    const [first] = runs;
    if (first === undefined) throw new Error("no run");
    const html = runningHtml({
      plan,
      done: 1,
      current: { ...current, arm: "<b>" },
      remainingMs: 500,
      ended: [{ ...first, arm: "<i>", status: "failed" }],
    });
    expect(html).toContain("1 runs failed or are invalid");
    expect(html).toContain("Now: &lt;b&gt;");
    expect(html).toContain("<td>&lt;i&gt;</td>");
  });
});
