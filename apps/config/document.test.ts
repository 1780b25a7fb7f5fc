import { describe, expect, it } from "vitest";
import { memberOf, pathOf } from "./member-path.js";
import { placedDocument } from "./placed-document.js";

async function documentIn(text: string) {
  const placed = await placedDocument(text);
  if (placed.kind === "mistake") throw new Error(placed.message);
  return placed;
}

async function mistakeIn(text: string): Promise<string> {
  const placed = await placedDocument(text);
  return placed.kind === "mistake" ? `${placed.spot.line}:${placed.spot.column} ${placed.message}` : "none";
}

describe("a document knows", () => {
  const TEXT = "agents:\n  - name: one\n    env:\n      KEY: 1\n";

  it("where the value and the name of a member are", async () => {
    const placed = await documentIn(TEXT);
    expect(placed.spotOf(["agents", 0, "env"])).toEqual({ line: 4, column: 7 });
    expect(placed.nameSpotOf(["agents", 0, "env"])).toEqual({ line: 3, column: 5 });
  });

  it("the nearest place around a member that is not there", async () => {
    const placed = await documentIn(TEXT);
    expect(placed.nameSpotOf(["agents", 0, "env", "NONE"])).toEqual({ line: 3, column: 5 });
    expect(placed.spotOf(["nowhere", 7])).toEqual({ line: 1, column: 1 });
  });
});

describe("a text that is no document", () => {
  it("is told without quoting it: there may be a secret in it", async () => {
    const said = await mistakeIn('secret: "hunter2\nb: *missing-hunter2\n');
    expect(said).toContain("is no YAML");
    expect(said).not.toContain("hunter2");
  });

  it("may not unfold into more than was written", async () => {
    const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
    for (let at = 1; at < 9; at++)
      lines.push(
        `a${at}: &a${at} [${Array(10)
          .fill(`*a${at - 1}`)
          .join(", ")}]`,
      );
    expect(await mistakeIn(lines.join("\n"))).toBe("1:1 repeats its anchors too often, or names one that is missing");
  });
});

it("a member is written as people write it, and read again", () => {
  expect(memberOf(["modules", 2, "env", "NAME"])).toBe("modules[2].env.NAME");
  expect(pathOf("modules[2].env.NAME")).toEqual(["modules", 2, "env", "NAME"]);
});
