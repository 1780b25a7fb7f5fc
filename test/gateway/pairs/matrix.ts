import { conformanceAgent } from "../../../conformance/index.js";
import type { Loss } from "../../../src/index.js";
import { type Protocol, protocols } from "../../../src/public/protocols.js";
import { openBridges } from "./bridges.js";
import { allPairs, type Pair, type PinnedInterface, provenInterfacesOf } from "./interfaces.js";
import { ASPECTS, type Aspect, type Mark, marksOf } from "./marks.js";
import { measure, ScriptedAgent } from "./rich.js";
import { createWorker } from "./worker.js";

/** The observations of one pair. */
export interface Cell {
  readonly listener: string;
  readonly upstream: string;
  readonly marks: Readonly<Record<Aspect, Mark>>;
  /** Each once. Empty: a rich exchange arrived unchanged. */
  readonly losses: readonly string[];
}

export interface Matrix {
  readonly interfaces: readonly string[];
  readonly cells: readonly Cell[];
  readonly exchanges: number;
}

/** Runs every pair on loopback sockets. Throws if something failed, or was lost and not reported. */
export async function runMatrix(among: readonly Protocol[] = protocols): Promise<Matrix> {
  const script = new ScriptedAgent();
  const worker = createWorker(script.over(conformanceAgent));
  const interfaces = await provenInterfacesOf(among);
  const bridges = await openBridges(worker, { protocols: among });
  try {
    const cells: Cell[] = [];
    let exchanges = 0;
    for (const pair of allPairs(interfaces)) {
      const gateway = await bridges.gatewayTo(pair.upstream);
      const measured = await measure(pair, gateway, worker, script);
      if (measured.unreported.length > 0)
        throw new Error(`${pair.name}: lost and not told:\n  ${measured.unreported.join("\n  ")}`);
      const marks = await marksOf(pair, await gateway.caller(pair.listener), worker).catch((thrown: unknown) => {
        throw new Error(`${pair.name}: ${String(thrown)}`, { cause: thrown });
      });
      cells.push(cellOf(pair, marks, measured.losses));
      exchanges += measured.exchanges;
    }
    return { interfaces: interfaces.map(nameOf), cells, exchanges };
  } finally {
    await bridges.close();
  }
}

function cellOf({ listener, upstream }: Pair, marks: Cell["marks"], losses: readonly Loss[]): Cell {
  const lines = losses.map(({ protocol, path, reason }) => `${protocol} · \`${path.replaceAll(/\[\d*\]/g, "[]")}\` · ${reason}`);
  return { listener: nameOf(listener), upstream: nameOf(upstream), marks, losses: [...new Set(lines)].sort() };
}

function nameOf({ pin }: PinnedInterface): string {
  const [version = "", binding = ""] = pin.split("/", 2);
  return `${version.replace("@", " ")} ${binding}`;
}

const SIGNS: Readonly<Record<Mark, string>> = { native: "●", "stand-in": "◐", absent: "○" };

/** The matrix as Markdown: one row for each listener, one column for each upstream, losses by number. */
export function formatMatrix({ interfaces, cells, exchanges }: Matrix): string {
  const known = [...new Set(cells.flatMap(({ losses }) => losses))].sort();
  const numbers = new Map(known.map((loss, index) => [loss, index + 1]));
  const shown = ({ marks, losses }: Cell): string => {
    const signs = ASPECTS.map((aspect) => SIGNS[marks[aspect]]).join("");
    const lost = losses.length === 0 ? "none" : inRuns(losses.map((loss) => numbers.get(loss) ?? 0));
    return `${signs}<br>${lost}`;
  };
  const rows = interfaces.map((listener) => {
    const row = interfaces.map((upstream) => cells.find((cell) => cell.listener === listener && cell.upstream === upstream));
    return `| **${listener}** | ${row.map((cell) => (cell === undefined ? "" : shown(cell))).join(" | ")} |`;
  });
  return [
    `Signs, in this order: ${ASPECTS.join(", ")}. Below them: what was lost, by number. ${exchanges} exchanges were compared.`,
    "",
    `| listener ↓ upstream → | ${interfaces.join(" | ")} |`,
    `|---|${interfaces.map(() => "---|").join("")}`,
    ...rows,
    "",
    "| | lost by | what | why |",
    "|--:|---|---|---|",
    ...known.map((loss) => `| ${numbers.get(loss)} | ${loss.split(" · ").join(" | ")} |`),
  ].join("\n");
}

/** `1–3 7`: ascending numbers, consecutive ones as a range. */
function inRuns(numbers: readonly number[]): string {
  const runs: { readonly first: number; last: number }[] = [];
  for (const number of numbers) {
    const run = runs.at(-1);
    if (run?.last === number - 1) run.last = number;
    else runs.push({ first: number, last: number });
  }
  return runs.map(({ first, last }) => (first === last ? `${first}` : `${first}–${last}`)).join(" ");
}
