import type { Operation } from "../../envelope/index.js";
import type { Destination } from "../destination.js";

/** Matching destinations, and one sentence on why others were excluded; empty if none was. */
export interface Matching {
  readonly fitting: readonly Destination[];
  readonly because: string;
}

/**
 * The destinations a message may go to at all, in the order given. As soon as one of them declares tags, a message with
 * tags goes only where all of its tags are known. As soon as one has the skill that the intent names, it goes only to
 * those who have it. Both hold at once, so that nobody may be left. Operations that are no messages fit everywhere.
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
  return { fitting, because: `has ${asked} asked for` };
}

function hasSkill({ skills }: Destination, intent: string): boolean {
  return skills?.includes(intent) === true;
}

function knowsAll({ tags }: Destination, asked: readonly string[]): boolean {
  return asked.every((tag) => tags?.includes(tag) === true);
}
