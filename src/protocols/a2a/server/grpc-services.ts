import type { HttpResponse } from "../../../transport/exchange.js";
import { writeStatus } from "../grpc/status.js";

/** What the services of gRPC itself have in common, beside the calls of A2A. */
export const GRPC_HEADERS = Object.freeze({ "content-type": "application/grpc+proto" });

/** The limits of their requests, which have a few short fields. */
export const SMALL_MESSAGE = { jsonDepth: 4, jsonValues: 8 } as const;

type Refusal =
  | "UNIMPLEMENTED"
  | "NOT_FOUND"
  | "INVALID_ARGUMENT"
  | "RESOURCE_EXHAUSTED"
  | "UNAUTHENTICATED"
  | "PERMISSION_DENIED";

/** A status without a message. */
export function grpcRefusal(status: Refusal, message: string): HttpResponse {
  return { status: 200, headers: { ...GRPC_HEADERS, ...writeStatus(status, message, []) }, body: undefined };
}
