import type { Handler, Layer, Maybe } from "../envelope/index.js";

/** One layer out of many, outermost first. What is undefined is left out and costs nothing. */
export function stack(layers: readonly Maybe<Layer>[]): Layer {
  return (innermost) =>
    layers.reduceRight<Handler>((handler, layer) => (layer === undefined ? handler : layer(handler)), innermost);
}
