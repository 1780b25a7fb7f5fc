import * as registry from "./feature-registry.js";
import type { CapabilityId, FeatureSource, Features, Support } from "./features.js";
import type { Traits } from "./traits.js";

/** The protocols considered by default, in tie-breaking order. Others are considered only if named. */
const BY_DEFAULT = ["a2a", "acp", "agora", "anp"];

/** The support levels that follow from a protocol's traits. */
function supportByTraits({ streaming, tasks, resume, idempotentSend, inputTurns, signed, sealed }: Traits): Features["support"] {
  const support: { [id in CapabilityId]?: Support } = {};
  if (streaming) support.streaming = "native";
  if (tasks) support["job-lifecycle"] = "native";
  if (resume) support.ordering = "native";
  if (idempotentSend) support.idempotency = "native";
  if (inputTurns) support["turn-taking"] = "native";
  if (signed === "end-to-end") {
    support["verified-identity"] = "native";
    support["non-repudiation"] = "native";
  }
  if (sealed === "end-to-end") support["end-to-end-secrecy"] = "native";
  return support;
}

/** A protocol's row of the feature model: its claims combined with its traits. */
export function featureRow({ id, traits, features }: FeatureSource): Features {
  const claims = features ?? {
    name: id.toUpperCase(),
    title: id,
    orientation: [],
    madeFor: "not described",
    lessSuited: [],
    lessSuitedFor: "not described",
    inherent: [],
    support: {},
    facts: [],
  };
  const support = claims.complete === true ? claims.support : { ...claims.support, ...supportByTraits(traits) };
  return { ...claims, id, support };
}

/** The rows of the registered protocols. */
export function featureRows(registered: readonly FeatureSource[] = Object.values(registry)): readonly Features[] {
  return registered.map(featureRow);
}

/** The rows considered by default. */
export function defaultCandidates(rows: readonly Features[] = featureRows()): readonly Features[] {
  return BY_DEFAULT.flatMap((id) => rows.filter((row) => row.id === id));
}
