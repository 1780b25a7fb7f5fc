/** Any JSON value, immutable. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
/** A JSON object, immutable. */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}
/** The author's own members of a message, part, artifact or task. */
export type Metadata = JsonObject;

/**
 * Optional and explicitly undefined are equivalent here, so that codecs build every object with the same keys in the same order: one
 * hidden class, and no spread on the hot path.
 */
export type Maybe<T> = T | undefined;

/** A value now, or later. */
export type Awaitable<T> = T | Promise<T>;

/** True for a JSON object, not for arrays and null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
