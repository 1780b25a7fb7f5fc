import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { FILES } from "../folder/folder.js";
import { type Difference, type Verification, verifyFolder } from "../folder/verify.js";
import { isSafetyFolder } from "../safety/folder.js";
import { verifySafetyFolder } from "../safety/verify.js";
import { ROUTER_PART, readParts } from "./read-parts.js";
import { suiteMarkdown } from "./report.js";
import { readSuite, statusOf } from "./suite.js";

/** Computes every number of every part again, and the combined tables from them. */
export async function verifySuiteFolder(
  folder: string,
  /** Verifies the part in which only the router is measured. */
  verifyRouter: (folder: string) => Promise<readonly Difference[]>,
): Promise<Verification> {
  const suite = readSuite(folder);
  const differences: Difference[] = [];
  let events = 0;
  for (const { name, scenario, status } of suite.parts) {
    const place = join(folder, name);
    if (scenario === ROUTER_PART && status === "complete")
      differences.push(...(await verifyRouter(place)).map((each) => ({ ...each, path: `${name}: ${each.path}` })));
    if (status === null || !existsSync(join(place, FILES.result))) continue;
    const found = await (isSafetyFolder(place) ? verifySafetyFolder(place) : verifyFolder(place));
    events += found.events;
    differences.push(...found.differences.map((each) => ({ ...each, path: `${name}: ${each.path}` })));
    if (found.status !== status) differences.push({ path: `${name}: status`, stated: status, computed: found.status });
  }
  const report = join(folder, FILES.tables);
  const stated = existsSync(report) ? readFileSync(report, "utf8") : undefined;
  const computed = suiteMarkdown(suite, readParts(folder, suite));
  if (stated !== computed) differences.push({ path: FILES.tables, ...firstDifference(stated ?? "", computed) });
  return { events, differences, status: statusOf(suite) };
}

/** The first line in which two texts differ. */
function firstDifference(stated: string, computed: string): Pick<Difference, "stated" | "computed"> {
  const [ours, theirs] = [computed.split("\n"), stated.split("\n")];
  const at = ours.findIndex((line, index) => line !== theirs[index]);
  return at < 0 ? { stated: theirs[ours.length], computed: undefined } : { stated: theirs[at], computed: ours[at] };
}
