import { describe, expect, it } from "vitest";
import { formatPath, parseLocated, parsePath } from "./document.js";

async function documentIn(text: string) {
  const parsed = await parseLocated(text);
  if (parsed.kind === "error") throw new Error(parsed.message);
  return parsed;
}

async function errorIn(text: string): Promise<string> {
  const parsed = await parseLocated(text);
  return parsed.kind === "error" ? `${parsed.position.line}:${parsed.position.column} ${parsed.message}` : "none";
}

describe("document positions", () => {
  const TEXT = "agents:\n  - name: one\n    env:\n      KEY: 1\n";

  it("locate the value and the key of a member", async () => {
    const parsed = await documentIn(TEXT);
    expect(parsed.positionOf(["agents", 0, "env"])).toEqual({ line: 4, column: 7 });
    expect(parsed.keyPositionOf(["agents", 0, "env"])).toEqual({ line: 3, column: 5 });
  });

  it("fall back to the nearest existing ancestor", async () => {
    const parsed = await documentIn(TEXT);
    expect(parsed.keyPositionOf(["agents", 0, "env", "NONE"])).toEqual({ line: 3, column: 5 });
    expect(parsed.positionOf(["nowhere", 7])).toEqual({ line: 1, column: 1 });
  });
});

describe("invalid documents", () => {
  it("are reported without quoting the text, which may hold a secret", async () => {
    const message = await errorIn('secret: "hunter2\nb: *missing-hunter2\n');
    expect(message).toContain("is not valid YAML");
    expect(message).not.toContain("hunter2");
  });

  it("may not expand aliases without limit", async () => {
    const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
    for (let at = 1; at < 9; at++)
      lines.push(
        `a${at}: &a${at} [${Array(10)
          .fill(`*a${at - 1}`)
          .join(", ")}]`,
      );
    expect(await errorIn(lines.join("\n"))).toBe("1:1 expands too many YAML aliases, or references an unknown anchor");
  });
});

it("formats a member path and parses it again", () => {
  expect(formatPath(["modules", 2, "env", "NAME"])).toBe("modules[2].env.NAME");
  expect(parsePath("modules[2].env.NAME")).toEqual(["modules", 2, "env", "NAME"]);
});
