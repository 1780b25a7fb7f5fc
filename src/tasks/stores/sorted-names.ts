/** A list that has grown to twice this is cut in two: putting a name into a long one moves all that are behind it. */
const NAMES_PER_LIST = 256;

/** Names in code-unit order, so that a page of them is found without sorting all. Short lists, one behind the other. */
export class SortedNames {
  readonly #lists: string[][] = [];

  /** One that is not there yet. */
  add(name: string): void {
    const at = this.#listFor(name);
    const list = this.#lists[at];
    if (list === undefined) {
      this.#lists.push([name]);
      return;
    }
    list.splice(placeIn(list, name), 0, name);
    if (list.length >= 2 * NAMES_PER_LIST) this.#lists.splice(at + 1, 0, list.splice(NAMES_PER_LIST));
  }

  delete(name: string): void {
    const at = this.#listFor(name);
    const list = this.#lists[at] ?? [];
    const place = placeIn(list, name);
    if (list[place] !== name) return;
    list.splice(place, 1);
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

  /** Those that begin so, from `from` on. Nothing may be added or deleted meanwhile. */
  *beginning(prefix: string, from: string): Generator<string> {
    for (let at = this.#listFor(from), place = placeIn(this.#lists[at] ?? [], from); at < this.#lists.length; at++, place = 0) {
      for (const name of this.#lists[at]?.slice(place) ?? []) {
        if (!name.startsWith(prefix)) return;
        yield name;
      }
    }
  }

  /** The last list that begins at the name or before it; the first one for a name before all. */
  #listFor(name: string): number {
    const behind = firstThat(this.#lists.length, (at) => (this.#lists[at]?.[0] ?? name) > name);
    return Math.max(0, behind - 1);
  }
}

/** Where it is, or would be. */
function placeIn(list: readonly string[], name: string): number {
  return firstThat(list.length, (at) => (list[at] ?? name) >= name);
}

/** The first index for which it is so, given that it stays so for all behind it; `length` when there is none. */
function firstThat(length: number, isSo: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isSo(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
