import type { ErrorCode, Maybe } from "../envelope/index.js";

/** Error codes for HTTP statuses with one meaning. 400 and 500 depend on the protocol. */
export const CODE_OF_STATUS: ReadonlyMap<Maybe<number>, ErrorCode> = new Map<Maybe<number>, ErrorCode>([
  [401, "unauthenticated"],
  [403, "forbidden"],
  [404, "not_found"],
  [405, "unsupported_method"],
  [406, "unsupported_content"],
  [408, "deadline"],
  [409, "conflict"],
  [410, "expired"],
  [413, "too_large"],
  [415, "unsupported_content"],
  [429, "overloaded"],
  [499, "cancelled"],
  [501, "unsupported"],
  [502, "unavailable"],
  [503, "unavailable"],
  [504, "deadline"],
  [508, "loop"],
]);
