import { AgentError } from "../envelope/index.js";

/** The last task of a page. The next page begins after it, whatever was added or removed since. */
export interface PageEnd {
  readonly at: number;
  readonly id: string;
}

const LONGEST_TOKEN = 256;
const TIME = /^[0-9]{1,16}$/;

/** Encodes the position of the next page. */
export function pageTokenOf({ at, id }: PageEnd): string {
  return `${at}.${id}`;
}

/** Undefined for the first page. Throws `invalid_message` for an invalid token. */
export function pageEndOf(token: string | undefined): PageEnd | undefined {
  if (token === undefined || token === "") return undefined;
  const dot = token.indexOf(".");
  const at = token.slice(0, Math.max(dot, 0));
  if (token.length > LONGEST_TOKEN || !TIME.test(at) || dot === token.length - 1) {
    throw new AgentError("invalid_message", "pageToken: not a token of this agent", { field: "pageToken" });
  }
  return { at: Number(at), id: token.slice(dot + 1) };
}

/** Newest status first, then by id: negative when `a` comes before `b`. */
export function byStatusTime(a: PageEnd, b: PageEnd): number {
  if (a.at !== b.at) return b.at - a.at;
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}
