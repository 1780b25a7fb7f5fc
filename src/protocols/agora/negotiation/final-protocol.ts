import type { Maybe } from "../../../envelope/index.js";

/** The document between the tags, in whatever case they are written, trimmed as the library trims it: this text is what is hashed. */
export function finalProtocol(text: string): Maybe<string> {
  const open = /<finalprotocol>/i.exec(text);
  if (open === null) return undefined;
  const rest = text.slice(open.index + open[0].length);
  const close = rest.search(/<\/finalprotocol>/i);
  return close === -1 ? undefined : rest.slice(0, close).trim() || undefined;
}
