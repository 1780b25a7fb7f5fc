import { describe, expect, test } from "vitest";
import { ERRORS } from "../../envelope/index.js";
import { ERROR_TABLE, errorRows, TYPE_URI } from "./error-tables.js";

// The seed's §5.4, line by line.
const SEED = [
  ["task_not_found", -32001, "NOT_FOUND", 404, "https://a2a-protocol.org/errors/task-not-found"],
  ["not_cancelable", -32002, "FAILED_PRECONDITION", 409, "https://a2a-protocol.org/errors/task-not-cancelable"],
  ["push_unsupported", -32003, "UNIMPLEMENTED", 400, "https://a2a-protocol.org/errors/push-notification-not-supported"],
  ["unsupported", -32004, "UNIMPLEMENTED", 400, "https://a2a-protocol.org/errors/unsupported-operation"],
  ["unsupported_content", -32005, "INVALID_ARGUMENT", 415, "https://a2a-protocol.org/errors/content-type-not-supported"],
  ["bad_peer", -32006, "INTERNAL", 502, "https://a2a-protocol.org/errors/invalid-agent-response"],
  [
    "card_not_configured",
    -32007,
    "FAILED_PRECONDITION",
    400,
    "https://a2a-protocol.org/errors/extended-agent-card-not-configured",
  ],
  ["extension_required", -32008, "FAILED_PRECONDITION", 400, "https://a2a-protocol.org/errors/extension-support-required"],
  ["unsupported_version", -32009, "UNIMPLEMENTED", 400, "https://a2a-protocol.org/errors/version-not-supported"],
];

// A2A 1.0.1 §5.4.
const CURRENT = [
  ["task_not_found", "TASK_NOT_FOUND", "NOT_FOUND", 404],
  ["not_cancelable", "TASK_NOT_CANCELABLE", "FAILED_PRECONDITION", 400],
  ["push_unsupported", "PUSH_NOTIFICATION_NOT_SUPPORTED", "FAILED_PRECONDITION", 400],
  ["unsupported", "UNSUPPORTED_OPERATION", "FAILED_PRECONDITION", 400],
  ["unsupported_content", "CONTENT_TYPE_NOT_SUPPORTED", "INVALID_ARGUMENT", 400],
  ["bad_peer", "INVALID_AGENT_RESPONSE", "INTERNAL", 500],
  ["card_not_configured", "EXTENDED_AGENT_CARD_NOT_CONFIGURED", "FAILED_PRECONDITION", 400],
  ["extension_required", "EXTENSION_SUPPORT_REQUIRED", "FAILED_PRECONDITION", 400],
  ["unsupported_version", "VERSION_NOT_SUPPORTED", "FAILED_PRECONDITION", 400],
];

// The errors that A2A leaves to JSON-RPC 2.0, HTTP and gRPC, and the Koine errors it lacks.
const GENERIC = [
  ["task_closed", -32004, "FAILED_PRECONDITION", 400],
  ["downgrade_refused", -32004, "FAILED_PRECONDITION", 400],
  ["decode", -32700, "INVALID_ARGUMENT", 400],
  ["too_large", -32600, "RESOURCE_EXHAUSTED", 413],
  ["unsupported_method", -32601, "UNIMPLEMENTED", 404],
  ["invalid_message", -32602, "INVALID_ARGUMENT", 400],
  ["not_found", -32602, "NOT_FOUND", 404],
  ["conflict", -32602, "ALREADY_EXISTS", 409],
  ["expired", -32602, "FAILED_PRECONDITION", 410],
  ["replayed", -32600, "ALREADY_EXISTS", 409],
  ["session_expired", -32600, "FAILED_PRECONDITION", 409],
  ["loop", -32600, "FAILED_PRECONDITION", 508],
  ["unauthenticated", -32000, "UNAUTHENTICATED", 401],
  ["bad_signature", -32000, "UNAUTHENTICATED", 401],
  ["identity_unresolved", -32000, "UNAUTHENTICATED", 401],
  ["handshake_failed", -32000, "UNAVAILABLE", 502],
  ["forbidden", -32000, "PERMISSION_DENIED", 403],
  ["overloaded", -32000, "RESOURCE_EXHAUSTED", 429],
  ["unavailable", -32000, "UNAVAILABLE", 503],
  ["interrupted", -32000, "UNAVAILABLE", 502],
  ["deadline", -32000, "DEADLINE_EXCEEDED", 504],
  ["cancelled", -32000, "CANCELLED", 499],
  ["lost_place", -32603, "DATA_LOSS", 500],
  ["encode", -32603, "INTERNAL", 500],
  ["internal", -32603, "INTERNAL", 500],
];

describe("ERROR_TABLE", () => {
  const own = errorRows().slice(0, 9);

  test("the profile 1.0.0 is the seed's table", () => {
    expect(own.map(({ code, rpc, grpc, http, slug }) => [code, rpc, grpc["1.0.0"], http["1.0.0"], `${TYPE_URI}${slug}`])).toEqual(
      SEED,
    );
  });

  test("the profile 1.0.1 is the current table", () => {
    expect(own.map(({ code, reason, grpc, http }) => [code, reason, grpc["1.0.1"], http["1.0.1"]])).toEqual(CURRENT);
  });

  test("the others, in both profiles", () => {
    const others = errorRows().slice(9);
    expect(others.map(({ code, rpc, grpc, http }) => [code, rpc, grpc["1.0.1"], http["1.0.1"]])).toEqual(GENERIC);
    expect(others.map(({ code, http }) => [code, http["1.0.0"]])).toEqual(GENERIC.map(([code, , , status]) => [code, status]));
  });

  test("has every Koine error code", () => {
    expect(Object.keys(ERROR_TABLE).sort()).toEqual(Object.keys(ERRORS).sort());
    expect(Object.keys(ERROR_TABLE)).toHaveLength(34);
  });
});
