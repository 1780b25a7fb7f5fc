/** Text that a column does not return unchanged: a NUL ends it early, a lone surrogate becomes another character. */
const UNSAFE = /[\0%\p{Surrogate}]/u;
const EACH_UNSAFE = /[\0%\p{Surrogate}]/gu;
const ESCAPED = /%([0-9a-f]+);/g;

/** Escapes a caller's text for a column: different texts stay different. */
export function columnText(name: string): string {
  return UNSAFE.test(name) ? name.replace(EACH_UNSAFE, (unit) => `%${unit.charCodeAt(0).toString(16)};`) : name;
}

export function nameFrom(column: string): string {
  return column.includes("%")
    ? column.replace(ESCAPED, (_, unit: string) => String.fromCharCode(Number.parseInt(unit, 16)))
    : column;
}
