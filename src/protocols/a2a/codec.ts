import { v03 } from "./codec/codec-0.3.js";
import { v03ProtoFor } from "./codec/codec-0.3-proto.js";
import { v1 } from "./codec/codec-1.0.js";
import type { LegacyFiles } from "./codec/legacy-files.js";
import type { Dialect } from "./dialect.js";

/** The dialect of a version (a patch number does not matter, A2A 1.0 §3.6) in a binding. */
export function dialectFor(version: string, binding: "JSONRPC" | "HTTP+JSON" | "GRPC", files: LegacyFiles = "auto"): Dialect {
  if (!version.startsWith("0.")) return v1;
  return binding === "JSONRPC" ? v03 : v03ProtoFor(files);
}
