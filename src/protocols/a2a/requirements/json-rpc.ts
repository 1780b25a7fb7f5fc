import { isObject, type Json } from "../../../envelope/index.js";
import { demand, show } from "../../check.js";
import { type Probe, raw, requestFor, sendParams, type WireRequirement } from "./probe.js";
import { demandError, type ErrorName } from "./wire-errors.js";

const BOTH = ["1.0", "0.3"] as const;
const SOURCE = "JSON-RPC 2.0";

/** A request with a literal body. */
async function post(
  probe: Probe,
  body: string,
): Promise<{ readonly id: unknown; readonly json: unknown; readonly names: (names: readonly ErrorName[]) => void }> {
  const got = await raw(probe, { ...requestFor(probe, "SendMessage", {}), body });
  return {
    id: isObject(got.json) ? got.json["id"] : undefined,
    json: got.json,
    names: (names) => {
      const answer = probe.wire.read(got, undefined, "SendMessage");
      demandError(answer.error, names, answer.result);
    },
  };
}

function whole(probe: Probe, change: { readonly [name: string]: Json | undefined }): string {
  const { body } = requestFor(probe, "GetTask", { id: probe.subject.newId() });
  const request: unknown = JSON.parse(String(body));
  return JSON.stringify({ ...(isObject(request) ? request : {}), ...change });
}

interface BadRequest {
  readonly key: string;
  readonly what: string;
  readonly section: string;
  readonly expect: readonly ErrorName[];
  readonly level?: "should";
  body(probe: Probe): string;
}

const BAD: readonly BadRequest[] = [
  {
    key: "malformed",
    what: "A body that is not JSON",
    section: "§5.1",
    expect: ["PARSE_ERROR"],
    body: () => '{"jsonrpc":"2.0","id":1,',
  },
  { key: "empty", what: "An empty body", section: "§5.1", expect: ["PARSE_ERROR", "INVALID_REQUEST"], body: () => "" },
  {
    key: "batch",
    what: "A batch, which A2A does not describe,",
    section: "§6",
    expect: ["INVALID_REQUEST"],
    body: (probe) => `[${whole(probe, {})}]`,
  },
  { key: "empty-batch", what: "An empty batch", section: "§6", expect: ["INVALID_REQUEST"], body: () => "[]" },
  {
    key: "number",
    what: "A body that is a number",
    section: "§5.1",
    expect: ["INVALID_REQUEST", "PARSE_ERROR"],
    body: () => "1",
  },
  {
    key: "wrong-version",
    what: "A request with jsonrpc 1.0",
    section: "§4",
    expect: ["INVALID_REQUEST"],
    body: (probe) => whole(probe, { jsonrpc: "1.0" }),
  },
  {
    key: "no-version",
    what: "A request without jsonrpc",
    section: "§4",
    expect: ["INVALID_REQUEST"],
    body: (probe) => whole(probe, { jsonrpc: undefined }),
  },
  {
    key: "no-method",
    what: "A request without a method",
    section: "§4",
    expect: ["INVALID_REQUEST"],
    body: (probe) => whole(probe, { method: undefined }),
  },
  {
    key: "method-number",
    what: "A request with a number as method",
    section: "§4",
    expect: ["INVALID_REQUEST"],
    body: (probe) => whole(probe, { method: 7 }),
  },
  {
    key: "unknown-method",
    what: "An unknown method",
    section: "§5.1",
    expect: ["METHOD_NOT_FOUND"],
    body: (probe) => whole(probe, { method: "MakeCoffee" }),
  },
  {
    key: "proto-method",
    what: "A method named like a JavaScript object member",
    section: "§5.1",
    expect: ["METHOD_NOT_FOUND"],
    body: (probe) => whole(probe, { method: "constructor" }),
  },
  {
    key: "params-list",
    what: "A list as params",
    section: "§4.2",
    expect: ["INVALID_PARAMS", "INVALID_REQUEST"],
    body: (probe) => whole(probe, { params: [] }),
  },
  {
    key: "params-text",
    what: "A string as params",
    section: "§4.2",
    expect: ["INVALID_PARAMS", "INVALID_REQUEST"],
    body: (probe) => whole(probe, { params: "id" }),
  },
  {
    key: "no-params",
    what: "A request without the params it needs",
    section: "§4.2",
    expect: ["INVALID_PARAMS", "INVALID_REQUEST"],
    body: (probe) => whole(probe, { params: undefined }),
  },
  {
    key: "id-object",
    what: "An object as id",
    section: "§4",
    level: "should",
    expect: ["INVALID_REQUEST"],
    body: (probe) => whole(probe, { id: { a: 1 } }),
  },
];

const refusals: readonly WireRequirement[] = BAD.map(({ key, what, section, expect, level, body }) => ({
  key: `rpc:${key}`,
  capability: "edge-cases",
  level,
  versions: BOTH,
  bindings: ["JSONRPC"],
  source: `${SOURCE} ${section}`,
  behaviour: `${what} is rejected with ${expect.join(" or ")}.`,
  run: async (probe) => (await post(probe, body(probe))).names(expect),
}));

const IDS: readonly { readonly key: string; readonly id: Json }[] = [
  { key: "text", id: "a string / with é" },
  { key: "number", id: 41 },
  { key: "zero", id: 0 },
  { key: "empty", id: "" },
];

const echoes: readonly WireRequirement[] = IDS.flatMap(({ key, id }): WireRequirement[] => [
  {
    key: `rpc:id-${key}`,
    capability: "round-trip",
    versions: BOTH,
    bindings: ["JSONRPC"],
    source: `${SOURCE} §5`,
    behaviour: `A result has the id of its request: ${JSON.stringify(id)}.`,
    async run(probe) {
      const request: unknown = JSON.parse(String(requestFor(probe, "SendMessage", sendParams(probe)).body));
      const answer = await post(probe, JSON.stringify({ ...(isObject(request) ? request : {}), id }));
      demand(answer.id === id, `id is ${show(answer.id)}`);
    },
  },
  {
    key: `rpc:error-id-${key}`,
    capability: "edge-cases",
    versions: BOTH,
    bindings: ["JSONRPC"],
    source: `${SOURCE} §5`,
    behaviour: `An error has the id of its request: ${JSON.stringify(id)}.`,
    async run(probe) {
      const answer = await post(probe, whole(probe, { id }));
      demand(answer.id === id, `id is ${show(answer.id)}`);
    },
  },
]);

/** Requirements of JSON-RPC itself. */
export const rpcRequirements: readonly WireRequirement[] = [
  ...refusals,
  ...echoes,
  {
    key: "rpc:malformed-id",
    capability: "edge-cases",
    versions: BOTH,
    bindings: ["JSONRPC"],
    source: `${SOURCE} §5`,
    behaviour: "An error for an invalid body has the id null.",
    async run(probe) {
      const { json } = await post(probe, "{");
      demand(isObject(json) && json["id"] === null, `answered ${show(json)}`);
    },
  },
  {
    key: "rpc:get",
    capability: "edge-cases",
    bindings: ["JSONRPC"],
    source: "A2A 1.0 §9.1, RFC 9110 §15.5",
    behaviour: "A GET at the JSON-RPC address is rejected with 4xx.",
    async run(probe) {
      const { status } = await raw(probe, { method: "GET", url: probe.at.url });
      demand(status >= 400 && status < 500, `answered ${status}`);
    },
  },
];
