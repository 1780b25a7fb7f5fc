import { AgentError, isObject, type Maybe } from "../../envelope/index.js";
import { featureRows } from "../../protocols/candidates.js";
import type { Features } from "../../protocols/features.js";
import { rankingFromResults } from "../priors.js";
import { parseText } from "./document.js";
import { suggestion } from "./nearest.js";
import { rowNamed } from "./protocol-names.js";

/**
 * The ranking of a file, as canonical protocol names, best first: `{ "ranking": ["…", …] }` in JSON or YAML, or the results
 * of a benchmark that compared protocols.
 */
export async function parseRanking(text: string, rows: Maybe<readonly Features[]> = featureRows()): Promise<readonly string[]> {
  const parsed = await parseText(text);
  const document = parsed.kind === "document" && isObject(parsed.value) ? parsed.value : {};
  const ranking = document["ranking"];
  if (ranking === undefined && document["protocols"] !== undefined) return rankingFromResults(document, rows);
  if (!Array.isArray(ranking) || ranking.length === 0)
    throw new AgentError("invalid_message", "it has no `ranking`: a list of protocols, best first", { field: "ranking" });
  const names = ranking.map((word, index) => nameAt(word, `ranking[${index}]`, rows));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new AgentError("invalid_message", `ranking names ${twice} twice`, { field: "ranking" });
  return names;
}

function nameAt(word: unknown, field: string, rows: readonly Features[]): string {
  const row = typeof word === "string" ? rowNamed(word, rows) : undefined;
  if (row !== undefined) return row.name;
  const known = rows.map(({ name }) => name);
  const meant = typeof word === "string" ? suggestion(word, known) : `there are: ${known.join(", ")}`;
  throw new AgentError("invalid_message", `${field} names no protocol: ${JSON.stringify(word)}; ${meant}`, { field });
}
