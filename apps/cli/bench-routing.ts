import { readFileSync } from "node:fs";
import { chooseProtocols, type Routing } from "../../bench/protocols/index.js";
import { parseRanking } from "../../src/router/index.js";
import { usageError } from "./exit.js";

/** What the router chooses for a scenario, among the protocols that are measured. */
export async function routingOf(scenario: string, measured: readonly string[], ranking: string | undefined): Promise<Routing> {
  try {
    const order = ranking === undefined ? undefined : await parseRanking(readFileSync(ranking, "utf8"));
    return await chooseProtocols(scenario, measured, order);
  } catch (thrown) {
    throw usageError(thrown instanceof Error ? thrown.message : String(thrown));
  }
}
