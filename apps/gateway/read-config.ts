import { dirname, resolve } from "node:path";
import type { Maybe } from "../../src/index.js";
import type { DeploymentName } from "../../src/public/protocols.js";
import { type MemberPath, parseLocated, readDocument } from "../config/index.js";
import { agentsOf, type GatewayConfig } from "./config.js";
import { checkConfig } from "./config-checks.js";
import { ConfigError, type ConfigProblem, ConfigProblems } from "./config-problem.js";
import { CONFIG_SCHEMA } from "./config-schema.js";
import { fromEnvironment } from "./from-environment.js";
import { checkProfile, withProfile } from "./profile.js";
import { schemaMessage, schemaProblems } from "./schema-problems.js";

export interface ConfigSource {
  /** File name in problem reports. */
  readonly name: string;
  /** Base directory of relative file names. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Instead of the one in the document. */
  readonly profile?: Maybe<DeploymentName>;
}

/** Reads a configuration file, JSON or YAML. Throws ConfigError with all problems and their positions. */
export async function readConfig(
  file: string,
  env: NodeJS.ProcessEnv = process.env,
  profile?: DeploymentName,
): Promise<GatewayConfig> {
  return parseConfig(await readDocument(file), { name: file, folder: dirname(resolve(file)), env, profile });
}

/** Parses a configuration from text. */
export async function parseConfig(text: string, source: ConfigSource): Promise<GatewayConfig> {
  const parsed = await parseLocated(text);
  if (parsed.kind === "error")
    throw new ConfigError([{ place: { file: source.name, ...parsed.position }, member: "", message: parsed.message }]);
  const placeOf = (path: MemberPath, named: boolean): ConfigProblem["place"] => ({
    file: source.name,
    ...(named ? parsed.keyPositionOf(path) : parsed.positionOf(path)),
  });
  return checked(parsed.value, source, () => new ConfigProblems(placeOf));
}

/** Validates a configuration object: the same rules, without positions. */
export function configFrom(document: unknown, source: Omit<ConfigSource, "name">): GatewayConfig {
  return checked(document, source, () => new ConfigProblems(() => undefined));
}

function checked(
  written: unknown,
  { folder, env, profile }: Omit<ConfigSource, "name">,
  fresh: () => ConfigProblems,
): GatewayConfig {
  const problems = fresh();
  const { value, fromEnvironment: substituted } = fromEnvironment(written, env, problems);
  const unset = problems.list.length > 0;
  const parsed = CONFIG_SCHEMA.safeParse(value ?? {}, { error: schemaMessage });
  if (!parsed.success)
    for (const { path, message, named } of schemaProblems(CONFIG_SCHEMA, parsed.error.issues)) {
      // An unset variable is already reported; its missing value is not a second problem.
      if (!unset || !substituted.has(JSON.stringify(path))) problems.add(path, message, named);
    }
  const document = withProfile(parsed.data ?? { agents: [] }, profile);
  if (parsed.success) {
    checkConfig(document, substituted, problems);
    checkProfile(document, problems);
  }
  problems.throwIfAny();
  return { document, agents: agentsOf(document), folder, env, newProblems: fresh };
}
