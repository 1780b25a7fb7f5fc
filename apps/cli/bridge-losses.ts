import type { JsonObject, RemoteAgent } from "../../src/index.js";
import { type Protocol, protocols } from "../../src/public/protocols.js";
import { oneLine } from "./printable.js";

interface DeclaredRow {
  /** `in front` or `behind`. */
  readonly side: string;
  readonly way: string;
  readonly path: string;
  readonly reason: string;
}

/** What each wire of a bridge declares not to carry. Between two of the same version everything is carried. */
function declaredRows(inFront: readonly Protocol[], { protocol, version }: RemoteAgent): readonly DeclaredRow[] {
  const rowsOf = (side: string, spoken: Protocol, versions: readonly string[]): readonly DeclaredRow[] =>
    spoken.losses
      .filter((loss) => versions.includes(loss.version))
      .map((loss) => ({ side, way: `${spoken.id}@${loss.version}`, path: loss.path, reason: loss.reason }));
  const behind = protocols.filter(({ id }) => id === protocol);
  return [
    ...behind.flatMap((each) => rowsOf("behind", each, [version])),
    ...inFront.flatMap((each) => rowsOf("in front", each, each.versions)),
  ];
}

/** For people. */
export function lossTable(inFront: readonly Protocol[], remote: RemoteAgent): string {
  const rows = declaredRows(inFront, remote);
  const head = `${remote.url} speaks ${remote.protocol}@${remote.version} ${remote.binding}. Each wire declares what it cannot carry:\n`;
  if (rows.length === 0) return `${head}nothing is declared to be lost.\n`;
  const width = Math.max(...rows.map(({ path }) => path.length));
  const lines = rows.map(
    ({ side, way, path, reason }) => `${side.padEnd(8)}  ${way.padEnd(9)}  ${path.padEnd(width)}  ${oneLine(reason, 300)}`,
  );
  return `${[head, ...lines].join("\n")}\n`;
}

export function lossTableJson(inFront: readonly Protocol[], remote: RemoteAgent): JsonObject {
  const { url, protocol, version, binding } = remote;
  return {
    kind: "declared-losses",
    url,
    protocol,
    version,
    binding,
    losses: declaredRows(inFront, remote).map((row) => ({ ...row })),
  };
}
