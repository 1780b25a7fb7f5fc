import type { Json, JsonObject, Maybe } from "../../../envelope/index.js";
import { demand, show } from "../../check.js";
import { OPENAPI, type Probe, post, type RunRequirement, runBody, SDK } from "./probe.js";
import { demandRefusal } from "./shapes.js";

interface BadRun {
  readonly key: string;
  readonly what: string;
  readonly level?: Maybe<"should">;
  bend(body: JsonObject): JsonObject;
}

const withInput =
  (input: Json) =>
  (body: JsonObject): JsonObject => ({ ...body, input });
const withMessage = (change: JsonObject) => withInput([{ role: "user", parts: [{ content: "hello" }], ...change }]);
const withPart = (part: Json) => withMessage({ parts: [part] });
const without =
  (name: string) =>
  (body: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(body).filter(([key]) => key !== name));

/** Input that the schema forbids and the official server rejects. */
const BAD_RUNS: readonly BadRun[] = [
  { key: "no-agent", what: "names no agent", bend: without("agent_name") },
  { key: "agent-number", what: "has a number as agent_name", bend: (body) => ({ ...body, agent_name: 7 }) },
  { key: "no-input", what: "has no input", bend: without("input") },
  { key: "input-text", what: "has a string as input", bend: withInput("hello") },
  { key: "input-object", what: "has one message in place of a list", bend: withInput({ role: "user", parts: [] }) },
  { key: "message-text", what: "has a string as message", bend: withInput(["hello"]) },
  { key: "message-null", what: "has null as message", bend: withInput([null]) },
  { key: "no-parts", what: "has a message without parts", bend: withInput([{ role: "user" }]) },
  { key: "parts-object", what: "has an object in place of the list of parts", bend: withMessage({ parts: { content: "x" } }) },
  { key: "part-text", what: "has a string as part", bend: withPart("hello") },
  { key: "role-unknown", what: "has an undefined role", bend: withMessage({ role: "system" }) },
  { key: "role-number", what: "has a number as role", bend: withMessage({ role: 7 }) },
  { key: "role-agent-empty", what: "has the role of an agent without a name", bend: withMessage({ role: "agent/" }) },
  { key: "content-number", what: "has a number as content", bend: withPart({ content: 7 }) },
  { key: "content-object", what: "has an object as content", bend: withPart({ content_type: "application/json", content: {} }) },
  { key: "content-type-number", what: "has a number as content_type", bend: withPart({ content_type: 7, content: "x" }) },
  {
    key: "both",
    what: "has a part with content and a URL",
    bend: withPart({ content: "x", content_url: "https://a.example/" }),
  },
  { key: "url-relative", what: "has a relative URL", bend: withPart({ content_url: "/a" }) },
  { key: "url-number", what: "has a number as URL", bend: withPart({ content_url: 7 }) },
  {
    key: "encoding-unknown",
    what: "has an undefined encoding",
    bend: withPart({ content: "x", content_encoding: "rot13" }),
  },
  {
    key: "base64-garbage",
    what: "has invalid base64",
    level: "should",
    bend: withPart({ content_type: "image/png", content: "%%%", content_encoding: "base64" }),
  },
  { key: "name-number", what: "has a number as the name of a part", bend: withPart({ name: 7, content: "x" }) },
  { key: "metadata-list", what: "has a list as metadata", bend: withPart({ content: "x", metadata: [] }) },
  { key: "time", what: "has an invalid time", bend: withMessage({ created_at: "yesterday" }) },
  { key: "mode-unknown", what: "has an undefined mode", bend: (body) => ({ ...body, mode: "eventually" }) },
  { key: "mode-number", what: "has a number as mode", bend: (body) => ({ ...body, mode: 7 }) },
  { key: "session-id-number", what: "has a number as session_id", bend: (body) => ({ ...body, session_id: 7 }) },
  { key: "session-text", what: "has a string as session", bend: (body) => ({ ...body, session: "mine" }) },
  {
    key: "session-history",
    what: "has a session whose history is not a list of URLs",
    bend: (body) => ({ ...body, session: { id: "6a0d6f0e-9a55-4d0c-8f0a-5f0e2b1c7d11", history: [7] } }),
  },
];

/** Bodies that are not a run request. */
const BAD_BODIES: readonly { readonly key: string; readonly what: string; readonly body: Maybe<string> }[] = [
  { key: "not-json", what: "that is not JSON", body: "{hello" },
  { key: "empty", what: "that is empty", body: "" },
  { key: "absent", what: "that is absent", body: undefined },
  { key: "list", what: "that is a list", body: "[]" },
  { key: "null", what: "that is null", body: "null" },
  { key: "text", what: "that is a string", body: '"hello"' },
];

async function stillServes(probe: Probe): Promise<void> {
  const { status } = await post(probe, "/runs", runBody(probe, "hello"));
  demand(status === 200, `afterwards an ordinary run is answered ${status}`);
}

/** Invalid input, one error at a time. */
export const validationRequirements: readonly RunRequirement[] = [
  ...BAD_RUNS.map(
    ({ key, what, bend, level }): RunRequirement => ({
      key: `validation:${key}`,
      capability: "edge-cases",
      level,
      source: `${OPENAPI} RunCreateRequest; ${SDK} models/models.py`,
      behaviour: `A run that ${what} is rejected as invalid input.`,
      async run(probe) {
        const got = await post(probe, "/runs", bend(runBody(probe, "hello")));
        const error = demandRefusal(got, [400, 422], "invalid_input");
        demand(String(error["message"]).length > 3, `the message is ${show(error["message"])}`);
      },
    }),
  ),
  ...BAD_BODIES.map(
    ({ key, what, body }): RunRequirement => ({
      key: `validation:body-${key}`,
      capability: "edge-cases",
      source: `${OPENAPI} POST /runs 422`,
      behaviour: `A body ${what} is rejected as invalid input, and the server stays available.`,
      async run(probe) {
        const headers = { "content-type": "application/json" };
        demandRefusal(await post(probe, "/runs", undefined, { body, headers }), [400, 422], "invalid_input");
        await stillServes(probe);
      },
    }),
  ),
];
