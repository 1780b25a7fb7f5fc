import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { SCENARIO_SCHEMA } from "./own-schema.js";
import { readScenarios } from "./read-scenarios.js";

const PUBLISHED = new URL("../../../docs/router-scenario.schema.json", import.meta.url);

describe("SCENARIO_SCHEMA", () => {
  it("is the one that is published; `koine route --schema` writes it", () => {
    expect(JSON.parse(readFileSync(PUBLISHED, "utf8"))).toEqual(SCENARIO_SCHEMA);
  });

  const scenario = (members: object) => ({ scenario: "s", modules: [{ id: "a" }], ...members });
  const module = (members: object) => scenario({ modules: [{ id: "a", ...members }] });
  // What a validator of draft 2020-12 says of each: Ajv was asked, and agrees.
  it.each([
    [scenario({}), true],
    [scenario({ description: "" }), true],
    [scenario({ topology: [] }), true],
    [scenario({ topology: "star:a" }), true],
    [module({ must: [], tasks: ["x"] }), true],
    [scenario({ topology: "star: " }), false],
    [scenario({ topology: [["a"]] }), false],
    [scenario({ topology: {} }), false],
    [scenario({ modules: [] }), false],
    [scenario({ modules: {} }), false],
    [scenario({ scenario: "" }), false],
    [scenario({ extra: 1 }), false],
    [module({ text: "" }), false],
    [module({ text: null }), false],
    [module({ tasks: "x" }), false],
    [module({ requires: ["Streaming"] }), false],
    [module({ id: "x".repeat(201) }), false],
    [{ modules: [{ id: "a" }] }, false],
  ])("judges %j as any validator does", (document, valid) => {
    expect(readScenarios(document).excluded.length === 0).toBe(valid);
  });
});
