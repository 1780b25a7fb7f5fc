import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { type NodeStatus, parsePlan } from "../up/index.js";
import { createOutput } from "./output.js";
import { healthView } from "./up.js";

const PLAN = "decisions: { desk: { selected_protocol: A2A } }\nmodules:\n  - { id: desk, demo: true }\n";
const STATUS: NodeStatus = {
  id: "desk",
  kind: "demo",
  protocol: "A2A",
  pin: "a2a",
  url: "http://127.0.0.1:4101",
  state: "starting",
  pid: 7,
  restarts: 0,
  since: 0,
  problem: undefined,
};

async function viewOn(terminal: boolean) {
  const stream = new PassThrough();
  const stderr = Object.assign(stream, terminal ? { isTTY: true, columns: 80 } : {});
  const plan = await parsePlan(PLAN, { name: "plan.yaml", folder: "." });
  const view = healthView(createOutput("text", { stdout: new PassThrough(), stderr }), plan);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are not under test
  const written = (): string => String(stream.read(stream.readableLength) ?? "").replace(/\u001b\[[0-9;]*m/g, "");
  return { view, written };
}

describe("the health of a network", () => {
  it("is a table on a terminal, below the output of the modules", async () => {
    const { view, written } = await viewOn(true);
    view.change(STATUS, [STATUS]);
    expect(written()).toBe("desk starting   a2a · http://127.0.0.1:4101 · pid 7\n");
    view.line("desk", "open for business");
    expect(written()).toBe("\u001b[1A\r\u001b[0Jdesk | open for business\ndesk starting   a2a · http://127.0.0.1:4101 · pid 7\n");
    const ready: NodeStatus = { ...STATUS, state: "ready", restarts: 2 };
    view.change(ready, [ready]);
    expect(written()).toBe("\u001b[1A\r\u001b[0Jdesk ready      a2a · http://127.0.0.1:4101 · pid 7 · restarts 2\n");
  });

  it("never wraps, and has no control characters", async () => {
    const { view, written } = await viewOn(true);
    const failed: NodeStatus = { ...STATUS, problem: `\u001b[2J${"x".repeat(200)}` };
    view.change(failed, [failed]);
    const [row = ""] = written().split("\n");
    expect(row.length).toBeLessThan(80);
    expect(row).not.toContain("\u001b");
    view.line("desk", "\u001b]0;title\u0007");
    expect(written()).toContain("desk | \ufffd]0;title\ufffd\n");
  });

  it("is one whole line per change where there is no terminal", async () => {
    const { view, written } = await viewOn(false);
    const failed: NodeStatus = { ...STATUS, state: "gave-up", pid: undefined, problem: "y".repeat(200) };
    view.change(STATUS, [STATUS]);
    view.change(failed, [failed]);
    expect(written()).toBe(
      `desk starting   a2a · http://127.0.0.1:4101 · pid 7\ndesk gave-up    a2a · http://127.0.0.1:4101 · ${"y".repeat(200)}\n`,
    );
  });
});
