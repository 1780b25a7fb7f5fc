import { type Edge, OTHER } from "./edge.js";

/** The labels of everything beyond the series limit. */
const OTHER_EDGE: Edge = Object.freeze({ srcAgent: OTHER, dstId: OTHER, protocol: OTHER });

export interface SeriesLimits {
  /** Distinct label sets; any further one is counted as `other`. */
  readonly maxSeries: number;
  readonly maxLabelLength: number;
}

/**
 * One cell per label set, up to the limit. Nested maps instead of a joined key: looking up a known set takes three hash lookups
 * and allocates nothing.
 */
export class SeriesTable<Cell> {
  readonly #limits: SeriesLimits;
  readonly #make: () => Cell;
  readonly #bySource = new Map<string, Map<string, Map<string, Cell>>>();
  readonly #all: { readonly edge: Edge; readonly cell: Cell }[] = [];
  #other: Cell | undefined;

  constructor(limits: SeriesLimits, make: () => Cell) {
    this.#limits = limits;
    this.#make = make;
  }

  /** The cell of an edge, created on first use. */
  at(edge: Edge): Cell {
    return this.#bySource.get(edge.srcAgent)?.get(edge.dstId)?.get(lastKey(edge)) ?? this.#add(edge);
  }

  /** As `at`, for callers without an edge object. */
  find(srcAgent: string, dstId: string, protocol: string): Cell {
    return this.#bySource.get(srcAgent)?.get(dstId)?.get(protocol) ?? this.#add({ srcAgent, dstId, protocol });
  }

  /** The edge gets a new cell if it is used again. */
  remove(wanted: Edge): void {
    const edge = this.#labels(wanted);
    const index = this.#all.findIndex(
      (each) => each.edge.srcAgent === edge.srcAgent && each.edge.dstId === edge.dstId && lastKey(each.edge) === lastKey(edge),
    );
    if (index < 0 || this.#all[index]?.cell === this.#other) return;
    this.#all.splice(index, 1);
    this.#bySource.get(edge.srcAgent)?.get(edge.dstId)?.delete(lastKey(edge));
  }

  all(): readonly { readonly edge: Edge; readonly cell: Cell }[] {
    return this.#all;
  }

  #add(wanted: Edge): Cell {
    const edge = this.#labels(wanted);
    const known = this.#bySource.get(edge.srcAgent)?.get(edge.dstId)?.get(lastKey(edge));
    if (known !== undefined) return known;
    // The last slot is reserved for `other`, which counts against the limit.
    if (this.#all.length >= this.#limits.maxSeries - (this.#other === undefined ? 1 : 0)) {
      this.#other ??= this.#put(OTHER_EDGE);
      return this.#other;
    }
    return this.#put(edge);
  }

  #labels({ srcAgent, dstId, protocol, reason }: Edge): Edge {
    const labels = { srcAgent: this.#label(srcAgent), dstId: this.#label(dstId), protocol: this.#label(protocol) };
    return reason === undefined ? labels : { ...labels, reason: this.#label(reason) };
  }

  /** URLs and overlong texts are not configured names and become `other`. */
  #label(value: string): string {
    return value.length > this.#limits.maxLabelLength || value.includes("://") ? OTHER : value;
  }

  #put(edge: Edge): Cell {
    const cell = this.#make();
    this.#all.push({ edge, cell });
    const byDestination = at(this.#bySource, edge.srcAgent, () => new Map<string, Map<string, Cell>>());
    at(byDestination, edge.dstId, () => new Map<string, Cell>()).set(lastKey(edge), cell);
    return cell;
  }
}

/** Few metrics have a reason: the others have no key to join. */
function lastKey({ protocol, reason }: Edge): string {
  return reason === undefined ? protocol : `${protocol}\n${reason}`;
}

function at<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
