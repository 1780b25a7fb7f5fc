import { protocols } from "./all.js";
import { described } from "./described.js";
import type { CapabilityId, Features, Support } from "./features.js";
import type { Protocol, Traits } from "./protocol.js";

/** The four protocols the seeds choose from, in their order of last resort. Others take part when they are named. */
const BY_DEFAULT = ["a2a", "acp", "agora", "anp"];

/** What the traits of a protocol already say in the words of the feature model. */
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

/** A protocol's row of the feature model: what it claims of itself, and what its traits say. */
export function featureRow({ id, traits, features }: Pick<Protocol, "id" | "traits" | "features">): Features {
  const claims = features ?? {
    name: id.toUpperCase(),
    title: id,
    orientation: [],
    madeFor: "nothing it tells of",
    lessSuited: [],
    lessSuitedFor: "nothing it tells of",
    inherent: [],
    support: {},
    facts: [],
  };
  return { ...claims, id, support: { ...claims.support, ...supportByTraits(traits) } };
}

/** Every row there is: of the registered protocols, and of those that are described only. */
export function featureRows(registered: readonly Protocol[] = protocols): readonly Features[] {
  const rows = registered.map(featureRow);
  return [...rows, ...described.filter(({ id }) => !rows.some((row) => row.id === id))];
}

/** The rows that take part where nobody says otherwise. */
export function defaultCandidates(rows: readonly Features[] = featureRows()): readonly Features[] {
  return BY_DEFAULT.flatMap((id) => rows.filter((row) => row.id === id));
}
