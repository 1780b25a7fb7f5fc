/** From the whole document inwards. */
export type MemberPath = readonly (string | number)[];

/** A path as people write it: `modules[2].env.NAME`; empty for the whole. */
export function memberOf(path: MemberPath): string {
  return path.reduce<string>((before, part) => {
    if (typeof part === "number") return `${before}[${part}]`;
    return before === "" ? part : `${before}.${part}`;
  }, "");
}

/** The other way round. */
export function pathOf(member: string): MemberPath {
  return [...member.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([word, index]) => (index === undefined ? word : Number(index)));
}
