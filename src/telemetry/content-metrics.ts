import { type Edge, OTHER } from "./edge.js";
import type { Metrics } from "./metrics.js";

/** Who changed the store is not known. */
const NOBODY: Edge = { srcAgent: OTHER, dstId: OTHER, protocol: OTHER };

/** Counts content of a sealed store that was refused. The series exists from the start. */
export function contentRefusals(metrics: Metrics): () => void {
  const refused = metrics.counter("STORED_CONTENT_REFUSED", "Contents of a sealed store that somebody changed").edge(NOBODY);
  refused.add(0);
  return () => refused.add(1);
}
