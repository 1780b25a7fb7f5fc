import type { Handler, Layer, Maybe } from "../envelope/index.js";

/** Combines layers into one, outermost first; undefined ones are skipped. */
export function stack(layers: readonly Maybe<Layer>[]): Layer {
  return (innermost) =>
    layers.reduceRight<Handler>((handler, layer) => (layer === undefined ? handler : layer(handler)), innermost);
}
