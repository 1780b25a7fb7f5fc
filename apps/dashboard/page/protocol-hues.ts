import { h } from "./dom.js";

/** How many hues the style sheet knows as `--hue-0` and so on. */
const HUES = 7;
/** Names remembered; whatever comes after them shares one hue. */
const NAMES_KEPT = 64;
const given = new Map<string, number>();

/** `a2a@0.3` of `a2a@0.3/JSONRPC`: versions that must be translated into each other look different. */
function spokenBy(way: string): string {
  return (way.split("/", 1)[0] ?? way).toLowerCase();
}

/** Each version of a protocol gets the next hue when it is first seen, and keeps it; the name always stands beside the colour. */
export function hueOf(way: string): number {
  const protocol = spokenBy(way);
  const known = given.get(protocol) ?? hueOfSomeVersion(protocol);
  if (known !== undefined) return known;
  if (given.size >= NAMES_KEPT) return 0;
  const hue = given.size % HUES;
  given.set(protocol, hue);
  return hue;
}

/** A name without a version looks like the first version that was seen. */
function hueOfSomeVersion(protocol: string): number | undefined {
  if (protocol.includes("@")) return undefined;
  for (const [name, hue] of given) if (name.startsWith(`${protocol}@`)) return hue;
  return undefined;
}

/** The name of a protocol in its colour. */
export function protocolChip(way: string): HTMLElement {
  return h("span", { class: `chip hue-${hueOf(way)}` }, way);
}
