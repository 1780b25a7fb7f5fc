import { type Edge, OTHER } from "./edge.js";

/** The labels beyond the last free place. */
const OTHER_EDGE: Edge = Object.freeze({ srcAgent: OTHER, dstId: OTHER, protocol: OTHER });

export interface SeriesLimits {
  /** Distinct sets of labels; every further one is counted as `other`. */
  readonly maxSeries: number;
  readonly maxLabelLength: number;
}

/**
 * One cell per set of labels, never more than the limit. Maps in maps and not a joined key: looking up what is there
 * costs three hash lookups and makes nothing.
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

  /** The cell of an edge, made on first use. */
  at(edge: Edge): Cell {
    return this.#bySource.get(edge.srcAgent)?.get(edge.dstId)?.get(edge.protocol) ?? this.#add(edge);
  }

  /** The same with the labels apart, for callers that have no edge object at hand. */
  find(srcAgent: string, dstId: string, protocol: string): Cell {
    return this.#bySource.get(srcAgent)?.get(dstId)?.get(protocol) ?? this.#add({ srcAgent, dstId, protocol });
  }

  all(): readonly { readonly edge: Edge; readonly cell: Cell }[] {
    return this.#all;
  }

  #add(wanted: Edge): Cell {
    const edge = {
      srcAgent: this.#label(wanted.srcAgent),
      dstId: this.#label(wanted.dstId),
      protocol: this.#label(wanted.protocol),
    };
    const known = this.#bySource.get(edge.srcAgent)?.get(edge.dstId)?.get(edge.protocol);
    if (known !== undefined) return known;
    // The last place is kept for `other`, so that the limit holds with it.
    if (this.#all.length >= this.#limits.maxSeries - (this.#other === undefined ? 1 : 0)) {
      this.#other ??= this.#put(OTHER_EDGE);
      return this.#other;
    }
    return this.#put(edge);
  }

  /** A label is a name. An address, or a text longer than a name, was not configured by anybody as one. */
  #label(value: string): string {
    return value.length > this.#limits.maxLabelLength || value.includes("://") ? OTHER : value;
  }

  #put(edge: Edge): Cell {
    const cell = this.#make();
    this.#all.push({ edge, cell });
    const byDestination = at(this.#bySource, edge.srcAgent, () => new Map<string, Map<string, Cell>>());
    at(byDestination, edge.dstId, () => new Map<string, Cell>()).set(edge.protocol, cell);
    return cell;
  }
}

function at<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
