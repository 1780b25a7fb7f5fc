import { isObject } from "../../../envelope/index.js";
import { demand, demandArray, demandObject, demandString, show } from "../../check.js";
import { call, type Probe, sendParams, type WireRequirement } from "./probe.js";
import { JSON_BINDINGS } from "./wire.js";
import { ERROR_DOMAIN, ERROR_INFO, type ObservedError } from "./wire-errors.js";

const BOTH = ["1.0", "0.3"] as const;
const RPC = ["JSONRPC"] as const;
const REST = ["HTTP+JSON"] as const;

async function refusal(probe: Probe): Promise<ObservedError> {
  const { error } = await call(probe, "GetTask", { id: probe.subject.newId() });
  demand(error !== undefined, "an unknown task was found");
  return error;
}

/** The format of errors. */
export const errorRequirements: readonly WireRequirement[] = [
  {
    key: "error:object",
    capability: "edge-cases",
    versions: BOTH,
    bindings: RPC,
    source: "JSON-RPC 2.0 §5.1",
    behaviour: "An error has a whole number as code and a message.",
    async run(probe) {
      const error = await refusal(probe);
      demand(Number.isInteger(error.code), `code is ${show(error.code)}`);
      demandString(error.message, "message");
    },
  },
  {
    key: "error:http-200",
    capability: "edge-cases",
    level: "should",
    bindings: RPC,
    source: "A2A 1.0 §9.5",
    behaviour: "An A2A error over JSON-RPC comes with HTTP status 200.",
    async run(probe) {
      const { httpStatus } = await refusal(probe);
      demand(httpStatus === 200, `answered ${httpStatus}`);
    },
  },
  {
    key: "error:info",
    capability: "edge-cases",
    // A MUST in 1.0.0, a SHOULD since 1.0.1; peers cannot distinguish patch versions.
    level: "should",
    bindings: RPC,
    source: "A2A 1.0 §9.5",
    behaviour: "An A2A error carries ErrorInfo with its reason and the A2A domain.",
    run: async (probe) => demandInfo(await refusal(probe)),
  },
  {
    key: "error:details-typed",
    capability: "edge-cases",
    bindings: RPC,
    source: "A2A 1.0 §9.5",
    behaviour: "Error data is a list of objects with their type.",
    async run(probe) {
      const { raw } = await refusal(probe);
      const data = demandObject(raw, "error")["data"];
      if (data === undefined || data === null) return;
      for (const each of demandArray(data, "error.data")) demandString(demandObject(each, "error.data[]")["@type"], "@type");
    },
  },
  {
    key: "error:status-body",
    capability: "edge-cases",
    bindings: REST,
    source: "A2A 1.0 §11.6",
    behaviour: "An error body is an error member with code, status, message and details, and the code is the HTTP status.",
    async run(probe) {
      const error = await refusal(probe);
      const body = demandObject(demandObject(error.raw, "the body")["error"], "error");
      demand(body["code"] === error.httpStatus, `error.code is ${show(body["code"])} with HTTP ${error.httpStatus}`);
      demand(body["status"] === "NOT_FOUND", `error.status is ${show(body["status"])}`);
      demandString(body["message"], "error.message");
      for (const each of demandArray(body["details"], "error.details"))
        demandString(demandObject(each, "error.details[]")["@type"], "@type");
    },
  },
  {
    key: "error:info",
    capability: "edge-cases",
    bindings: ["HTTP+JSON", "GRPC"],
    source: "A2A 1.0 §10.6, §11.6",
    behaviour: "An A2A error carries ErrorInfo with its reason and the A2A domain.",
    run: async (probe) => demandInfo(await refusal(probe)),
  },
  {
    key: "error:media-type",
    capability: "edge-cases",
    versions: BOTH,
    bindings: JSON_BINDINGS,
    source: "A2A 1.0 §9.1, §11.1",
    behaviour: "Answers and errors are JSON by their content type.",
    async run(probe) {
      for (const { got } of [await call(probe, "SendMessage", sendParams(probe)), await call(probe, "GetTask", { id: "none" })]) {
        const type = got.headers["content-type"] ?? "";
        demand(/^application\/(a2a\+|problem\+)?json\b/.test(type), `content-type is ${show(type)}`);
      }
    },
  },
  {
    key: "error:no-inside",
    capability: "security",
    level: "should",
    versions: BOTH,
    source: "A2A 1.0 §13.4",
    behaviour: "Errors disclose neither stack traces nor file names.",
    async run(probe) {
      const answers = [
        await call(probe, "GetTask", { id: "none" }),
        ...(probe.wire.binding === "GRPC" ? [] : [await call(probe, "SendMessage", { message: 5 })]),
        await call(probe, "SendMessage", {}),
      ];
      for (const { got } of answers)
        demand(
          !/\bat .+:\d+:\d+|node_modules|Traceback \(most recent|\.py", line|panic: /.test(got.text),
          `leaks: ${show(got.text)}`,
        );
    },
  },
  {
    key: "error:agent-throws",
    capability: "security",
    level: "should",
    versions: BOTH,
    needs: ["commands"],
    source: "A2A 1.0 §13.4",
    behaviour: "Internal errors of the agent are not disclosed.",
    async run(probe) {
      const { got } = await call(probe, "SendMessage", sendParams(probe, { text: "conform: throw" }));
      demand(!got.text.includes("inner secret"), `leaks: ${show(got.text)}`);
    },
  },
];

function demandInfo(error: ObservedError): void {
  const info = error.details.filter(isObject).find((detail) => detail["@type"] === ERROR_INFO);
  demand(info !== undefined, `no ErrorInfo among the details ${show(error.details)}`);
  demand(info["reason"] === "TASK_NOT_FOUND", `reason is ${show(info["reason"])}`);
  demand(info["domain"] === ERROR_DOMAIN, `domain is ${show(info["domain"])}`);
}
