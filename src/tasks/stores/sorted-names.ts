/** A list of twice this length is split: inserting into a long array moves everything after the insertion. */
const NAMES_PER_LIST = 256;

/** Names in code-unit order, in short consecutive lists, so that a page is found without sorting everything. */
export class SortedNames {
  readonly #lists: string[][] = [];

  /** Adds a name that is not in the list. */
  add(name: string): void {
    const at = this.#listFor(name);
    const list = this.#lists[at];
    if (list === undefined) {
      this.#lists.push([name]);
      return;
    }
    list.splice(indexIn(list, name), 0, name);
    if (list.length >= 2 * NAMES_PER_LIST) this.#lists.splice(at + 1, 0, list.splice(NAMES_PER_LIST));
  }

  delete(name: string): void {
    const at = this.#listFor(name);
    const list = this.#lists[at] ?? [];
    const index = indexIn(list, name);
    if (list[index] !== name) return;
    list.splice(index, 1);
    if (list.length === 0) this.#lists.splice(at, 1);
  }

  first(count: number): readonly string[] {
    const found: string[] = [];
    for (const list of this.#lists) {
      if (found.length >= count) break;
      found.push(...list.slice(0, count - found.length));
    }
    return found;
  }

  /** Names with the prefix, from `from` on. The list must not change during iteration. */
  *beginning(prefix: string, from: string): Generator<string> {
    for (let at = this.#listFor(from), index = indexIn(this.#lists[at] ?? [], from); at < this.#lists.length; at++, index = 0) {
      for (const name of this.#lists[at]?.slice(index) ?? []) {
        if (!name.startsWith(prefix)) return;
        yield name;
      }
    }
  }

  /** The last list that begins at or before the name; otherwise the first. */
  #listFor(name: string): number {
    const behind = firstThat(this.#lists.length, (at) => (this.#lists[at]?.[0] ?? name) > name);
    return Math.max(0, behind - 1);
  }
}

/** The index of the name, or where to insert it. */
function indexIn(list: readonly string[], name: string): number {
  return firstThat(list.length, (at) => (list[at] ?? name) >= name);
}

/** Binary search: the first index for which the predicate holds; `length` if there is none. */
function firstThat(length: number, isSo: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isSo(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
