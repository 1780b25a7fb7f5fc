import type { Form } from "./form.js";
import { readPart, writePart } from "./part-1.0.js";
import { readRole } from "./role.js";
import { readState, writeState } from "./state.js";

/** ProtoJSON of A2A 1.0, the same on every binding. */
export const FORM_1_0: Form = {
  kinds: false,
  content: "parts",
  final: false,
  userRole: "ROLE_USER",
  agentRole: "ROLE_AGENT",
  readRole,
  readState,
  writeState,
  readPart,
  writePart,
};
