import { isObject, type Json, type JsonObject, type Maybe, type Metadata } from "../../../envelope/index.js";

// The conversion of the JavaScript and Python SDKs: 0.3 data parts hold objects only.
const FLAG = "data_part_compat";

/** Data and metadata of a 0.3 data part. A value that is not an object is wrapped and flagged. */
export function wrapData(
  data: Json,
  metadata: Maybe<Metadata>,
): { readonly data: JsonObject; readonly metadata: Maybe<Metadata> } {
  if (isObject(data)) return { data, metadata };
  return { data: { value: data }, metadata: { ...metadata, [FLAG]: true } };
}

export function unwrapData(
  data: JsonObject,
  metadata: Maybe<Metadata>,
): { readonly data: Json; readonly metadata: Maybe<Metadata> } {
  if (metadata?.[FLAG] !== true || data.value === undefined) return { data, metadata };
  const rest = Object.entries(metadata).filter(([name]) => name !== FLAG);
  return { data: data.value, metadata: rest.length === 0 ? undefined : Object.fromEntries(rest) };
}
