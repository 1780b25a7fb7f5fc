import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Speech } from "./gateway-expected.js";
import { CHECKS, type Check, type Seen } from "./gateway-walk.js";

/** The results of one client with one agent, and the expected ones. */
export interface Cell {
  readonly client: string;
  readonly clientProtocol: Speech;
  readonly agent: string;
  readonly agentProtocol: Speech;
  readonly seen: Seen;
  readonly expected: Seen;
}

const LEGEND = [
  "Official clients (rows) at official agents (columns) through a gateway: `serve(await bridge(url))`.",
  "",
  "- `ask`: one question, one answer. `task`: work that is begun without waiting and read by its id. `stream`: an answer in pieces.",
  "- `input`: the agent asks back and is answered. `cancel`: work under way is stopped. `error`: work that fails. `unknown`: a task that is not there.",
  "- ✓ as the client's protocol has it. ◐ stood in for, because the other side has no such thing. – the client has no words for it. ✗ not as it should be.",
];

/** The table of all cells, as Markdown. */
function tableOf(cells: readonly Cell[]): string {
  const agents = [...new Set(cells.map(({ agent }) => agent))];
  const clients = [...new Set(cells.map(({ client }) => client))];
  const found = new Map(cells.map((cell) => [`${cell.client}\n${cell.agent}`, cell]));
  const row = (texts: readonly string[]): string => `| ${texts.join(" | ")} |`;
  const lines = clients.map((client) => row([client, ...agents.map((agent) => textOf(found.get(`${client}\n${agent}`)))]));
  const failures = cells.flatMap(failuresOf);
  return [
    ...LEGEND,
    "",
    row(["client \\ agent", ...agents]),
    row(["---", ...agents.map(() => "---")]),
    ...lines,
    ...(failures.length === 0 ? [] : ["", ...failures]),
    "",
  ].join("\n");
}

export async function writeTable(path: string, cells: readonly Cell[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, tableOf(cells));
}

function textOf(cell: Cell | undefined): string {
  return cell === undefined ? "not tried" : CHECKS.map((check) => `${check} ${markOf(cell, check)}`).join(" ");
}

function markOf({ seen, expected, clientProtocol, agentProtocol }: Cell, check: Check): string {
  if (seen[check] !== expected[check]) return "✗";
  if (seen[check] === undefined) return "–";
  const standsIn = clientProtocol === "agora" ? WITHOUT_TASKS : agentProtocol === "agora" ? BEFORE_NO_TASKS : [];
  return standsIn.includes(check) ? "◐" : "✓";
}

/** A client without tasks gets their result as one answer. */
const WITHOUT_TASKS: readonly Check[] = ["task", "stream"];
/** With an agent without tasks they are the gateway's own, and a question is answered within the session. */
const BEFORE_NO_TASKS: readonly Check[] = ["task", "stream", "input", "cancel"];

function failuresOf({ client, agent, seen, expected }: Cell): readonly string[] {
  return CHECKS.filter((check) => seen[check] !== expected[check]).map(
    (check) => `- ${client} at ${agent}, ${check}: \`${seen[check]}\` instead of \`${expected[check]}\``,
  );
}
