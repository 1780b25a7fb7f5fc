import { compileSchema } from "./schema.js";

/** The schema of `google.rpc.Status` and of the known error details. */
export const STATUS_SCHEMA = compileSchema(
  {},
  {
    Status: { code: "int32 1", message: "string 2", details: "repeated Any 3" },
    ErrorInfo: { reason: "string 1", domain: "string 2", metadata: "map string 3" },
    BadRequest: { fieldViolations: "repeated FieldViolation 1" },
    FieldViolation: { field: "string 1", description: "string 2", reason: "string 3" },
    RetryInfo: { retryDelay: "Duration 1" },
    // Seconds are an int64; its first 31 bits have the same encoding.
    Duration: { seconds: "int32 1", nanos: "int32 2" },
    Any: { typeUrl: "string 1", value: "bytes 2" },
  },
);
