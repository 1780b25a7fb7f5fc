import { AgentError } from "../src/index.js";

/** A plan may be this long; it is read whole. */
export const PLAN_BYTES = 1024 * 1024;
const YAML_ALIASES = 100;

export type Path = readonly (string | number)[];

/** A document with the places of its members. */
export interface PlacedDocument {
  readonly value: unknown;
  /** The line of a member, or of the nearest one around it that is there. */
  lineOf(path: Path): number;
}

/** JSON or YAML, which contains it, as a value whose members know their lines. Throws AgentError with the line of the mistake. */
export async function parsePlaced(text: string, name: string): Promise<PlacedDocument> {
  if (text.length > PLAN_BYTES) throw new AgentError("too_large", `${name} is larger than ${PLAN_BYTES / 1024} KiB`);
  const { isMap, isNode, isScalar, LineCounter, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, version: "1.2", schema: "core", prettyErrors: false });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined)
    throw new AgentError("decode", `${name}:${lines.linePos(problem.pos[0]).line}: ${problem.message.split("\n", 1)[0] ?? ""}`);
  const startOf = (path: Path): number | undefined => {
    const last = path.at(-1);
    const around: unknown = path.length < 2 ? document.contents : document.getIn(path.slice(0, -1), true);
    // A member is where its name is; its value may begin a line below.
    const pair = isMap(around) ? around.items.find(({ key }) => isScalar(key) && String(key.value) === last) : undefined;
    const node: unknown = pair?.key ?? (path.length === 0 ? document.contents : document.getIn(path, true));
    return isNode(node) ? node.range?.[0] : undefined;
  };
  return {
    value: plainValue(() => document.toJS({ maxAliasCount: YAML_ALIASES }), name),
    lineOf(path) {
      for (let length = path.length; length >= 0; length--) {
        const start = startOf(path.slice(0, length));
        if (start !== undefined) return lines.linePos(start).line;
      }
      return 1;
    },
  };
}

/** The library tells of too many repetitions by a ReferenceError. */
function plainValue(read: () => unknown, name: string): unknown {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof ReferenceError)
      throw new AgentError("decode", `${name}: its anchors are repeated too often, or missing`);
    throw thrown;
  }
}

/** `modules[2].env.NAME` as a path. */
export function pathOf(field: string): Path {
  return [...field.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([word, index]) => (index === undefined ? word : Number(index)));
}

/** A path as people write it. */
export function memberOf(path: Path): string {
  return path.reduce<string>((before, part) => {
    if (typeof part === "number") return `${before}[${part}]`;
    return before === "" ? part : `${before}.${part}`;
  }, "");
}
