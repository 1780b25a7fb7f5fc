import { formatGrid, toGrid } from "./grid.js";
import type { ThroughReport } from "./through.js";

/** The report as text: the grid of both sides, then what only the gateway breaks, then what it does not offer. */
export function formatThrough({ upstream, gateway, direct, through, broken, dropped, stoodIn, mended }: ThroughReport): string {
  const lines = [`directly, ${upstream}`, formatGrid(toGrid(direct)), "", `through ${gateway}`, formatGrid(toGrid(through)), ""];
  for (const { id, level, source, behaviour, metBy, detail } of broken)
    lines.push(`✗ ${id} (${level}, ${source})`, `    ${behaviour}`, `    met by the ${metBy}; through the gateway: ${detail}`);
  for (const [reason, count] of countedBy(dropped.map(({ reason }) => reason)))
    lines.push(`– ${count} met directly and not offered by the gateway: ${reason}`);
  if (stoodIn.length > 0)
    lines.push(`◐ ${stoodIn.length} need streams, which the agent's own wire has not: ${stoodIn.join(", ")}`);
  lines.push(`${broken.length} broken by the gateway, ${dropped.length} not offered by it, ${mended.length} met only through it`);
  return lines.join("\n");
}

function countedBy(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}
