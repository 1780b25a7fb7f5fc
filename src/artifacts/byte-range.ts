import type { ByteRange } from "./store.js";

/**
 * RFC 9110 §14: the requested range. `whole` for none, several, or an invalid one, which servers may answer in full;
 * `unsatisfiable` for one that starts past the end.
 */
export function readRange(header: string | undefined, size: number): ByteRange | "whole" | "unsatisfiable" {
  const match = header === undefined ? null : /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header.replaceAll(" ", ""));
  if (match === null) return "whole";
  const [, first = "", last = ""] = match;
  if (first === "" && last === "") return "whole";
  if (first === "") {
    const suffix = Number(last);
    return suffix === 0 || size === 0 ? "unsatisfiable" : { start: Math.max(0, size - suffix), end: size };
  }
  const start = Number(first);
  if (last !== "" && Number(last) < start) return "whole";
  if (start >= size) return "unsatisfiable";
  return { start, end: last === "" ? size : Math.min(Number(last) + 1, size) };
}

/** RFC 9110 §14.4: the range of a 206 response. Undefined for anything else. */
export function readContentRange(header: string | undefined): (ByteRange & { readonly size: number }) | undefined {
  const match = header === undefined ? null : /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/i.exec(header.trim());
  if (match === null) return undefined;
  const [start, last, size] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return start <= last && last < size ? { start, end: last + 1, size } : undefined;
}
