import type { Json, JsonObject } from "../../../envelope/index.js";
import { isObject } from "../../../envelope/index.js";
import { demand } from "../../check.js";
import { call, type Probe, resultOf, sendParams, type WireRequirement } from "./probe.js";
import { JSON_BINDINGS } from "./wire.js";
import { demandError, namesField, showError } from "./wire-errors.js";

interface BadSend {
  readonly key: string;
  /** The field that an error should name. */
  readonly field: string;
  readonly what: string;
  /** Protobuf cannot express it, or expresses it as another case. */
  readonly inJson?: true;
  bend(params: JsonObject): JsonObject;
}

const inMessage =
  (change: { readonly [name: string]: Json | undefined }) =>
  (params: JsonObject): JsonObject => ({
    ...params,
    message: { ...(isObject(params["message"]) ? params["message"] : {}), ...change },
  });

/** A2A 1.0 §5.7: required members; §4.1.6: exactly one content member per part. */
const BAD_SENDS: readonly BadSend[] = [
  { key: "no-message", field: "message", what: "has no message", bend: ({ message: _, ...rest }) => rest },
  {
    key: "message-text",
    inJson: true,
    field: "message",
    what: "has a string as message",
    bend: (params) => ({ ...params, message: "hello" }),
  },
  { key: "no-message-id", field: "messageId", what: "has no messageId", bend: inMessage({ messageId: undefined }) },
  {
    key: "empty-message-id",
    inJson: true,
    field: "messageId",
    what: "has an empty messageId",
    bend: inMessage({ messageId: "" }),
  },
  {
    key: "number-message-id",
    inJson: true,
    field: "messageId",
    what: "has a number as messageId",
    bend: inMessage({ messageId: 7 }),
  },
  { key: "no-role", field: "role", what: "has no role", bend: inMessage({ role: undefined }) },
  {
    key: "unspecified-role",
    inJson: true,
    field: "role",
    what: "has the unspecified role",
    bend: inMessage({ role: "ROLE_UNSPECIFIED" }),
  },
  {
    key: "unknown-role",
    inJson: true,
    field: "role",
    what: "has an undefined role",
    bend: inMessage({ role: "ROLE_WIZARD" }),
  },
  { key: "no-parts", field: "parts", what: "has no parts member", bend: inMessage({ parts: undefined }) },
  { key: "empty-parts", inJson: true, field: "parts", what: "has an empty list of parts", bend: inMessage({ parts: [] }) },
  {
    key: "parts-object",
    inJson: true,
    field: "parts",
    what: "has an object in place of the list of parts",
    bend: inMessage({ parts: { text: "x" } }),
  },
  { key: "part-text", inJson: true, field: "parts", what: "has a string as part", bend: inMessage({ parts: ["hello"] }) },
  {
    key: "part-empty",
    field: "parts",
    what: "has a part without content",
    bend: inMessage({ parts: [{ mediaType: "text/plain" }] }),
  },
  {
    key: "part-double",
    inJson: true,
    field: "parts",
    what: "has a part with two contents",
    bend: inMessage({ parts: [{ text: "x", url: "https://x.example/" }] }),
  },
  {
    key: "part-text-number",
    inJson: true,
    field: "text",
    what: "has a number as text of a part",
    bend: inMessage({ parts: [{ text: 5 }] }),
  },
  {
    key: "part-raw-garbage",
    inJson: true,
    field: "raw",
    what: "has bytes that are not base64",
    bend: inMessage({ parts: [{ raw: "***" }] }),
  },
  { key: "metadata-list", inJson: true, field: "metadata", what: "has a list as metadata", bend: inMessage({ metadata: [1] }) },
  {
    key: "history-negative",
    field: "historyLength",
    what: "requests a negative history length",
    bend: (params) => ({ ...params, configuration: { historyLength: -1 } }),
  },
  {
    key: "history-text",
    inJson: true,
    field: "historyLength",
    what: "requests a history length that is not a number",
    bend: (params) => ({ ...params, configuration: { historyLength: "some" } }),
  },
  {
    key: "configuration-list",
    inJson: true,
    field: "configuration",
    what: "has a list as configuration",
    bend: (params) => ({ ...params, configuration: [] }),
  },
];

function refusal({ key, what, bend, inJson }: BadSend): WireRequirement {
  return {
    key: `validation:${key}`,
    capability: "edge-cases",
    bindings: inJson && JSON_BINDINGS,
    source: "A2A 1.0 §3.3.2, §5.7",
    behaviour: `A send that ${what} is rejected as invalid.`,
    async run(probe) {
      const answer = await call(probe, "SendMessage", bend(sendParams(probe)));
      demandError(answer.error, ["INVALID_PARAMS", "INVALID_REQUEST"], answer.result);
    },
  };
}

function naming({ key, what, field, bend, inJson }: BadSend): WireRequirement {
  return {
    key: `validation:${key}:named`,
    capability: "edge-cases",
    bindings: inJson && JSON_BINDINGS,
    level: "should",
    source: "A2A 1.0 §3.3.2",
    behaviour: `The error for a send that ${what} names the member.`,
    async run(probe) {
      const { error } = await call(probe, "SendMessage", bend(sendParams(probe)));
      demand(error !== undefined, "it was not rejected");
      demand(namesField(error, field), `${field} is not named: ${showError(error)}`);
    },
  };
}

/** Unusual but valid input. Any rejection other than ContentTypeNotSupported is an error. */
interface GoodSend {
  readonly key: string;
  readonly source: string;
  readonly level: "must" | "should";
  readonly what: string;
  readonly inJson?: true;
  bend(params: JsonObject): JsonObject;
}

const GOOD_SENDS: readonly GoodSend[] = [
  {
    key: "unknown-members",
    inJson: true,
    source: "A2A 1.0 §5.7",
    level: "should",
    what: "unknown members",
    bend: (params) => inMessage({ xUnknown: { deep: [1] } })({ ...params, xAlsoUnknown: true }),
  },
  {
    key: "snake-case",
    inJson: true,
    source: "ProtoJSON: parsers accept both names",
    level: "should",
    what: "a member in its snake_case name",
    bend(params) {
      const { messageId, ...rest } = isObject(params["message"]) ? params["message"] : {};
      return { ...params, message: { ...rest, message_id: messageId } };
    },
  },
  {
    key: "enum-number",
    inJson: true,
    source: "ProtoJSON: enums",
    level: "should",
    what: "the role as its number",
    bend: inMessage({ role: 1 }),
  },
  {
    key: "null-members",
    inJson: true,
    source: "ProtoJSON: null is absent",
    level: "should",
    what: "null where a member may be absent",
    bend: inMessage({ contextId: null, taskId: null, metadata: null, extensions: null }),
  },
  {
    key: "empty-text",
    source: "A2A 1.0 §4.1.6",
    level: "should",
    what: "an empty text beside a full one",
    bend: inMessage({ parts: [{ text: "" }, { text: "hello" }] }),
  },
  {
    key: "data-null",
    source: "A2A 1.0 §4.1.6",
    level: "should",
    what: "a data part whose value is null",
    bend: inMessage({ parts: [{ text: "hello" }, { data: null }] }),
  },
  {
    key: "data-list",
    source: "A2A 1.0 §4.1.6",
    level: "must",
    what: "a data part whose value is a list",
    bend: inMessage({ parts: [{ text: "hello" }, { data: [1, "two", null] }] }),
  },
  {
    key: "raw-unpadded",
    inJson: true,
    source: "ProtoJSON: bytes",
    level: "should",
    what: "bytes in URL-safe base64 without padding",
    bend: inMessage({ parts: [{ text: "hello" }, { raw: "-_8", filename: "x.bin", mediaType: "application/octet-stream" }] }),
  },
  {
    key: "history-as-text",
    inJson: true,
    source: "ProtoJSON: int32",
    level: "should",
    what: "a history length as a decimal string",
    bend: (params) => ({ ...params, configuration: { historyLength: "0" } }),
  },
  {
    key: "proto-keys",
    source: "RFC 8259 §4",
    level: "must",
    what: "metadata whose keys are JavaScript object members",
    bend: inMessage({
      metadata: JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{}},"toString":"x"}') as JsonObject,
    }),
  },
];

function acceptance({ key, source, level, what, bend, inJson }: GoodSend): WireRequirement {
  return {
    key: `accepts:${key}`,
    capability: "round-trip",
    bindings: inJson && JSON_BINDINGS,
    level,
    source,
    behaviour: `A send with ${what} is accepted.`,
    run: async (probe: Probe) => {
      const answer = await call(probe, "SendMessage", bend(sendParams(probe)));
      if (answer.error === undefined) return void resultOf(answer);
      demandError(answer.error, ["CONTENT_TYPE_NOT_SUPPORTED"], answer.result);
    },
  };
}

/** Input that a server must reject, naming the field, and input that it must accept. */
export const validationRequirements: readonly WireRequirement[] = [
  ...BAD_SENDS.map(refusal),
  ...BAD_SENDS.map(naming),
  ...GOOD_SENDS.map(acceptance),
];
