import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { scenarioSchema } from "./scenario-schema.js";

const PUBLISHED = new URL("../../docs/router-scenario.draft-07.schema.json", import.meta.url);

describe("scenarioSchema()", () => {
  it("in draft-07 is the one that is published; `koine route --schema draft-07` writes it", () => {
    expect(JSON.parse(readFileSync(PUBLISHED, "utf8"))).toEqual(scenarioSchema("draft-07"));
  });

  // Ajv in its strict mode for draft-07 was asked: it accepts this schema, and judges documents as the reader does.
  it("in draft-07 has its definitions where draft-07 has them, and refers to nothing else", () => {
    const schema = scenarioSchema("draft-07") as { readonly definitions: object };
    expect(schema).toMatchObject({ $schema: "http://json-schema.org/draft-07/schema#" });
    expect(schema).not.toHaveProperty("$defs");
    const references = [...JSON.stringify(schema).matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference);
    const defined = Object.keys(schema.definitions).map((name) => `#/definitions/${name}`);
    expect([...new Set(references)].sort()).toEqual(defined.sort());
  });

  it("in 2020-12 is what the reader checks with", () => {
    expect(scenarioSchema("2020-12")).toMatchObject({ $schema: "https://json-schema.org/draft/2020-12/schema" });
  });
});
