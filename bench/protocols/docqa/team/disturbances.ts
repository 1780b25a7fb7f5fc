/** What happens to messages between agents that were acknowledged: lost, delivered after the answer, or delivered after the next one. */
export const DISTURBANCES = ["drop", "late", "reorder"] as const;
export type Disturbance = (typeof DISTURBANCES)[number];
