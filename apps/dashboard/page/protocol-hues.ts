import { h } from "./dom.js";

/** Number of `--hue-N` variables in the style sheet. */
const HUES = 7;
/** Limit of remembered names; later ones share one hue. */
const NAMES_KEPT = 64;
const given = new Map<string, number>();

/** `a2a@0.3/JSONRPC` → `a2a@0.3`: versions have different colours, because the gateway translates between them. */
function versionOf(name: string): string {
  return (name.split("/", 1)[0] ?? name).toLowerCase();
}

/** Assigns the next hue to each new protocol version. */
export function hueOf(name: string): number {
  const protocol = versionOf(name);
  const known = given.get(protocol) ?? hueOfSomeVersion(protocol);
  if (known !== undefined) return known;
  if (given.size >= NAMES_KEPT) return 0;
  const hue = given.size % HUES;
  given.set(protocol, hue);
  return hue;
}

/** A name without a version gets the hue of the first known version. */
function hueOfSomeVersion(protocol: string): number | undefined {
  if (protocol.includes("@")) return undefined;
  for (const [name, hue] of given) if (name.startsWith(`${protocol}@`)) return hue;
  return undefined;
}

/** A protocol name in its colour. */
export function protocolChip(name: string): HTMLElement {
  return h("span", { class: `chip hue-${hueOf(name)}` }, name);
}
