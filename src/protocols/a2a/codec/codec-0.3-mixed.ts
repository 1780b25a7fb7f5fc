import { AgentError, type AgentEvent, isObject, type JsonObject, type LossSink } from "../../../envelope/index.js";
import type { Dialect } from "../dialect.js";
import { v03 } from "./codec-0.3.js";
import type { Form } from "./form.js";
import { FORM_0_3 } from "./form-0.3.js";
import { FORM_1_0 } from "./form-1.0.js";
import { readLegacyRequest } from "./request-0.3.js";
import { writeKindItem } from "./result-0.3.js";

/** Methods and enumerations of 0.3, parts of 1.0. */
const FORM: Form = { ...FORM_0_3, readPart: FORM_1_0.readPart };

/** The member that holds each kind of event, as in 1.0. */
const MEMBERS: { readonly [kind in AgentEvent["kind"]]?: string } = {
  message: "message",
  task: "task",
  status: "statusUpdate",
  artifact: "artifactUpdate",
};

/**
 * 0.3 on JSON-RPC as the client of FastA2A 2.1 (Pydantic AI) writes and reads it: messages have the parts of 1.0, without `kind`, and
 * the answer to a message is in a member that names it.
 */
export const v03Mixed: Dialect = {
  ...v03,
  decodeRequest(name, params, facts) {
    const reason = "a part of 0.3 has a kind; read as a part of 1.0, and answered in the form of 1.0";
    facts.reportLoss({ protocol: "a2a", path: "message.parts[].kind", valueKind: "string", reason });
    return readLegacyRequest(FORM, name, params, facts);
  },
  encodeResult: (operation, event, reportLoss) =>
    operation.kind === "send" ? inMember(event, reportLoss) : v03.encodeResult(operation, event, reportLoss),
  encodeStreamItem: inMember,
};

function inMember(event: AgentEvent, reportLoss: LossSink): JsonObject {
  const member = MEMBERS[event.kind];
  if (member === undefined) throw new AgentError("encode", `an answer to a message is no ${event.kind}`);
  return { [member]: writeKindItem(event, reportLoss) };
}

/** A message whose parts are all those of 1.0. 0.3 requires `kind`, so nothing valid is read differently. */
export function isMixed(params: unknown): boolean {
  const message = isObject(params) ? params["message"] : undefined;
  const parts = isObject(message) ? message["parts"] : undefined;
  return Array.isArray(parts) && parts.length > 0 && parts.every(isPartOf1);
}

function isPartOf1(part: unknown): boolean {
  if (!isObject(part) || part["kind"] !== undefined || part["type"] !== undefined) return false;
  return ["text", "raw", "url", "data"].filter((member) => part[member] !== undefined).length === 1;
}
