import type { Form } from "./form.js";
import type { LegacyFiles } from "./legacy-files.js";
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

/** ProtoJSON of the 0.3 protobuf, used by REST and gRPC, for peers that fill the bytes of files in one way. */
export function protoForm(files: LegacyFiles): Form {
  return {
    kinds: false,
    content: "content",
    final: true,
    userRole: "ROLE_USER",
    agentRole: "ROLE_AGENT",
    readRole,
    readState,
    writeState: writeProtoState,
    readPart: (value, path, reportLoss) => readProtoPart(value, path, reportLoss, files),
    writePart: (part, path, reportLoss) => writeProtoPart(part, path, reportLoss, files),
  };
}
