import type { Maybe } from "../../envelope/index.js";
import { LINKS_PER_SCENARIO } from "./limits.js";
import { Malformed } from "./members.js";
import { suggestion } from "./nearest.js";

type Link = readonly [from: string, to: string];

/** The neighbours of each module by id, from the topology and the modules themselves. Links are symmetric. */
export function neighboursOf(
  ids: readonly string[],
  topology: Maybe<string | readonly (readonly string[])[]>,
  named: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, readonly string[]> {
  const own = [...named].flatMap(([id, others]) => others.map((other): Link => [id, other]));
  const links = [...linksOf(ids, topology), ...own];
  if (links.length > LINKS_PER_SCENARIO) throw new Malformed("topology", `has more than ${LINKS_PER_SCENARIO} links`);
  const found = new Map(ids.map((id) => [id, new Set<string>()]));
  for (const [from, to] of links) {
    if (from === to) throw new Malformed("topology", `connects ${JSON.stringify(from)} to itself`);
    setOf(found, from).add(to);
    setOf(found, to).add(from);
  }
  // In the order of the modules, independent of the order of the links.
  return new Map(Array.from(found, ([id, others]) => [id, ids.filter((other) => others.has(other))]));
}

function setOf(found: ReadonlyMap<string, Set<string>>, id: string): Set<string> {
  const others = found.get(id);
  if (others === undefined)
    throw new Malformed("topology", `names ${JSON.stringify(id)}, which is no module; ${suggestion(id, [...found.keys()])}`);
  return others;
}

function linksOf(ids: readonly string[], topology: Maybe<string | readonly (readonly string[])[]>): readonly Link[] {
  if (topology === undefined) return [];
  if (typeof topology !== "string") return topology.map(([from = "", to = ""]): Link => [from, to]);
  const [shape, hub] = [topology.split(":", 1)[0], topology.slice(topology.indexOf(":") + 1).trim()];
  if (shape === "star") return ids.filter((id) => id !== hub).map((id): Link => [hub, id]);
  const chain = ids.slice(1).map((id, index): Link => [ids[index] ?? id, id]);
  if (shape === "chain") return chain;
  const [first, last] = [ids[0], ids.at(-1)];
  if (shape === "ring") return first === undefined || last === undefined || ids.length < 3 ? chain : [...chain, [last, first]];
  return meshOf(ids);
}

/** Rejected before it is built: the number of links grows quadratically. */
function meshOf(ids: readonly string[]): readonly Link[] {
  if ((ids.length * (ids.length - 1)) / 2 > LINKS_PER_SCENARIO)
    throw new Malformed("topology", `is a mesh of ${ids.length} modules, which has more than ${LINKS_PER_SCENARIO} links`);
  return ids.flatMap((from, index) => ids.slice(index + 1).map((to): Link => [from, to]));
}
