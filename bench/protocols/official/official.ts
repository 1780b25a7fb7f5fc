import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PACKAGE_ROOT } from "../../../src/transport/node/package-file.js";
import { environmentFolder, interpreterIn } from "../../../tools/python-cache.mjs";
import type { Program, Protection } from "../processes/tasks.js";
import type { Arm } from "../result/index.js";

/** The SDKs of the paper, by protocol: the environment that `npm run peers` installs, and the package in it. */
const IMPLEMENTATIONS: Readonly<
  Record<
    string,
    { readonly environment: string; readonly package: string; readonly version: string; readonly protection?: Protection }
  >
> = {
  a2a: { environment: "a2a-0.3.3", package: "a2a-sdk", version: "0.3.3" },
  acp: { environment: "acp-1.0.3", package: "acp-sdk", version: "1.0.3" },
  agora: { environment: "agora-0.2.0", package: "agora-protocol", version: "0.2.0" },
  anp: {
    environment: "agent-connect-0.3.5",
    package: "agent-connect",
    version: "0.3.5",
    // Its session is sealed between the two DIDs; messages are not signed.
    protection: { signed: "none", sealed: "hop", callers: "did" },
  },
};
const UNPROTECTED: Protection = { signed: "none", sealed: "none", callers: "anonymous" };

/** Whether there is an official implementation that can be measured, installed or not. */
export function hasOfficial(protocol: string): boolean {
  return Object.hasOwn(IMPLEMENTATIONS, protocol);
}

/** The two programs of an official implementation. Undefined: there is none, or it is not installed. */
export function officialPrograms({ protocol, features }: Pick<Arm, "protocol" | "features">) {
  const found = IMPLEMENTATIONS[protocol];
  const requirements = found && new URL(`test/interop/requirements-${found.environment}.txt`, PACKAGE_ROOT);
  // An installed package has neither the scripts nor the lists: they belong to the source tree.
  if (found === undefined || requirements === undefined || !existsSync(requirements) || features !== "envelope") return undefined;
  const folder = environmentFolder(found.environment, readFileSync(requirements, "utf8"));
  const command = interpreterIn(folder);
  if (!existsSync(command)) return undefined;
  const program = (role: string): Program => ({
    command,
    protection: found.protection ?? UNPROTECTED,
    args: ["-B", "-u", fileURLToPath(new URL(`bench/protocols/official/python/${protocol}_${role}.py`, PACKAGE_ROOT))],
  });
  return { agent: program("server"), caller: program("client") };
}

/** The packages that these arms use, for the manifest. */
export function officialVersions(arms: readonly Pick<Arm, "protocol">[]): Readonly<Record<string, string>> {
  return Object.fromEntries(arms.flatMap(({ protocol }) => versionOf(protocol)));
}

function versionOf(protocol: string): readonly (readonly [string, string])[] {
  const found = IMPLEMENTATIONS[protocol];
  return found === undefined ? [] : [[found.package, found.version]];
}
