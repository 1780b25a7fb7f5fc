import type { Operation } from "../../envelope/index.js";
import type { Destination } from "../destination.js";

/** Matching destinations, and one sentence on why others were excluded; empty if none was. */
export interface Matching {
  readonly fitting: readonly Destination[];
  readonly because: string;
}

/**
 * The destinations that match a message, in the given order. If any destination declares tags, a message with tags goes only
 * to those with all of its tags. If any has the skill named by the intent, it goes only to those with that skill. Both apply
 * together, so that none may be left. Operations other than `send` match every destination.
 */
export function matching(destinations: readonly Destination[], operation: Operation): Matching {
  if (operation.kind !== "send") return { fitting: destinations, because: "" };
  const { intent, context } = operation.envelope;
  const tags = context.tags ?? [];
  const byTags = tags.length > 0 && destinations.some((each) => (each.tags?.length ?? 0) > 0);
  const bySkill = intent !== "" && destinations.some((each) => hasSkill(each, intent));
  if (!byTags && !bySkill) return { fitting: destinations, because: "" };
  const fitting = destinations.filter((each) => (!byTags || knowsAll(each, tags)) && (!bySkill || hasSkill(each, intent)));
  // Message content is not repeated: this sentence is logged, and the content is untrusted.
  const asked = byTags && bySkill ? "the tags and the skill" : byTags ? "the tags" : "the skill";
  return { fitting, because: `has ${asked} requested` };
}

function hasSkill({ skills }: Destination, intent: string): boolean {
  return skills?.includes(intent) === true;
}

function knowsAll({ tags }: Destination, asked: readonly string[]): boolean {
  return asked.every((tag) => tags?.includes(tag) === true);
}
