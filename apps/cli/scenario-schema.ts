import type { Json } from "../../src/index.js";
import { SCENARIO_SCHEMA } from "../../src/router/index.js";

/** The dialects of JSON Schema in which the native form of scenarios is published. */
export type SchemaDialect = "2020-12" | "draft-07";

/** The schema in a dialect. Draft-07 has the definitions elsewhere; nothing else of it differs for this schema. */
export function scenarioSchema(dialect: SchemaDialect): Json {
  const text = JSON.stringify(SCENARIO_SCHEMA);
  if (dialect === "2020-12") return JSON.parse(text) as Json; // it was just written
  const {
    $schema: _,
    $defs: definitions = {},
    ...rest
  } = JSON.parse(text.replaceAll("#/$defs/", "#/definitions/")) as {
    readonly [member: string]: Json;
  }; // it was just written
  return { $schema: "http://json-schema.org/draft-07/schema#", ...rest, definitions };
}
