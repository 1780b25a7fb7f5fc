import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { scenarioSchema } from "./scenario-schema.js";

const PUBLISHED = new URL("../../docs/router-scenario.draft-07.schema.json", import.meta.url);

describe("scenarioSchema()", () => {
  it("in draft-07 is the one that is published; `koine route --schema draft-07` writes it", () => {
    expect(JSON.parse(readFileSync(PUBLISHED, "utf8"))).toEqual(scenarioSchema("draft-07"));
  });

  // Ajv implements draft-07 by default, and refuses a schema with words that it does not have.
  const validate = new Ajv({ strict: true, allowUnionTypes: true }).compile(scenarioSchema("draft-07") as object);
  const scenario = (members: object) => ({ scenario: "s", modules: [{ id: "a" }], ...members });

  it.each([
    [scenario({}), true],
    [[scenario({}), scenario({})], true],
    [{ scenarios: [scenario({ topology: "star:a" })] }, true],
    [scenario({ topology: "star: " }), false],
    [scenario({ modules: [] }), false],
    [scenario({ modules: [{ id: "a", requires: ["Streaming"] }] }), false],
    [scenario({ modules: [{ id: "a", txt: "x" }] }), false],
    [{ modules: [{ id: "a" }] }, false],
  ])("in draft-07 judges %j as it should", (document, valid) => {
    expect(validate(document)).toBe(valid);
  });
});
