/**
 * The lead in weight at which 99 of 100 decisions are right on the project's own scenarios, and the margin that it is shown as.
 * `npm run train:router` changes weights, so a test compares it with the scenarios.
 */
const SURE = { lead: 0.75, margin: 0.5 };

/** The margin of a decision, from 0 to 1: from one half on it is right 99 times of 100. Linear on both sides. */
export function marginOf(lead: number): number {
  const bounded = Math.min(1, Math.max(0, lead));
  if (bounded <= SURE.lead) return (bounded / SURE.lead) * SURE.margin;
  return SURE.margin + ((bounded - SURE.lead) / (1 - SURE.lead)) * (1 - SURE.margin);
}
