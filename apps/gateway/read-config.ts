import { dirname, resolve } from "node:path";
import { type MemberPath, placedDocument, readDocument } from "../config/index.js";
import { agentsOf, type GatewayConfig } from "./config.js";
import { checkConfig } from "./config-checks.js";
import { Complaints, ConfigError, type ConfigProblem } from "./config-problem.js";
import { CONFIG_SCHEMA, type ConfigDocument } from "./config-schema.js";
import { fromEnvironment } from "./from-environment.js";
import { schemaProblems, wordsFor } from "./schema-problems.js";

export interface ConfigSource {
  /** As it is called in problems. */
  readonly name: string;
  /** Relative names of files begin here. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

/** A configuration file, JSON or YAML. Throws ConfigError with everything that is wrong, each with its line. */
export async function readConfig(file: string, env: NodeJS.ProcessEnv = process.env): Promise<GatewayConfig> {
  return parseConfig(await readDocument(file), { name: file, folder: dirname(resolve(file)), env });
}

/** The same from text. */
export async function parseConfig(text: string, source: ConfigSource): Promise<GatewayConfig> {
  const placed = await placedDocument(text);
  if (placed.kind === "mistake")
    throw new ConfigError([{ place: { file: source.name, ...placed.spot }, member: "", message: placed.message }]);
  const placeOf = (path: MemberPath, named: boolean): ConfigProblem["place"] => ({
    file: source.name,
    ...(named ? placed.nameSpotOf(path) : placed.spotOf(path)),
  });
  return checked(placed.value, source, () => new Complaints(placeOf));
}

/** A configuration that somebody has made instead of written: the same rules, without lines. */
export function configFrom(document: unknown, source: Omit<ConfigSource, "name">): GatewayConfig {
  return checked(document, source, () => new Complaints(() => undefined));
}

function checked(written: unknown, { folder, env }: Omit<ConfigSource, "name">, fresh: () => Complaints): GatewayConfig {
  const complaints = fresh();
  const { value, fromEnvironment: taken } = fromEnvironment(written, env, complaints);
  const unset = complaints.problems.length > 0;
  const parsed = CONFIG_SCHEMA.safeParse(value ?? {}, { error: wordsFor });
  if (!parsed.success)
    for (const { path, message, named } of schemaProblems(CONFIG_SCHEMA, parsed.error.issues)) {
      // A variable that is not set was complained about already: that its value is missing says nothing new.
      if (!unset || !taken.has(JSON.stringify(path))) complaints.add(path, message, named);
    }
  else checkConfig(parsed.data, taken, complaints);
  complaints.throwAny();
  const document: ConfigDocument = parsed.data ?? { agents: [] }; // thrown above where there is none
  return { document, agents: agentsOf(document), folder, env, complaints: fresh };
}
