import type { Form } from "./form.js";
import { readKindPart, writeKindPart } from "./part-0.3.js";
import { readProtoPart, writeProtoPart } from "./part-0.3-proto.js";
import { readKindRole, readRole } from "./role.js";
import { readKindState, readState, writeKindState, writeProtoState } from "./state.js";

/** The JSON schema of 0.3, used by JSON-RPC: objects are distinguished by `kind`. */
export const FORM_0_3: Form = {
  kinds: true,
  content: "parts",
  final: true,
  userRole: "user",
  agentRole: "agent",
  readRole: readKindRole,
  readState: readKindState,
  writeState: writeKindState,
  readPart: readKindPart,
  writePart: writeKindPart,
};

/** ProtoJSON of the 0.3 protobuf, used by REST. */
export const FORM_0_3_PROTO: Form = {
  kinds: false,
  content: "content",
  final: true,
  userRole: "ROLE_USER",
  agentRole: "ROLE_AGENT",
  readRole,
  readState,
  writeState: writeProtoState,
  readPart: readProtoPart,
  writePart: writeProtoPart,
};
