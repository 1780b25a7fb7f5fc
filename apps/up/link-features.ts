import { AgentError, type Layer, type Operation, type Requirement } from "../../src/index.js";
import type { LinkFeature, LinkFeatureName } from "../../src/public/network.js";
import { numbering, reorder, systemClock } from "../../src/public/policies.js";

/** The features of a link or node as a child process applies them. */
export interface LinkSwitches {
  /** Why each feature that is off is off. */
  readonly off: { readonly [name in LinkFeatureName]?: string };
  /** Messages of one session are numbered by the caller, and put in order by the callee. */
  readonly numbered: boolean;
  /** What every call must have: of the callee, and end to end where that is on. */
  readonly require: readonly Requirement[];
}

/** The switches of a link or node. */
export function switchesOf(features: readonly LinkFeature[], required: readonly Requirement[] = []): LinkSwitches {
  const sealed = features.some(({ name, on }) => name === "end-to-end" && on);
  return {
    require: sealed ? [...required, "end-to-end"] : required,
    off: Object.fromEntries(features.filter(({ on }) => !on).map(({ name, because }) => [name, because])),
    numbered: features.some(({ name, on }) => name === "state-sync" && on),
  };
}

/** What several links allow together, for a bridge that they share: on if one of them has it. */
export function sharedSwitches(links: readonly LinkSwitches[]): LinkSwitches {
  const [first = switchesOf([]), ...more] = links;
  const names = Object.keys(first.off) as LinkFeatureName[]; // its keys are features
  const off = names.filter((name) => more.every((each) => each.off[name] !== undefined));
  return {
    off: Object.fromEntries(off.map((name) => [name, first.off[name]])),
    numbered: links.some(({ numbered }) => numbered),
    require: first.require.filter((name) => more.every((each) => each.require.includes(name))),
  };
}

/** At the caller: nothing is sent that the link does not carry, and messages are numbered. */
export function callerLayers({ off, numbered }: LinkSwitches): readonly Layer[] {
  return [refuse(off), ...(numbered ? [numbering({ by: "session", newId: () => crypto.randomUUID() })] : [])];
}

/** At the callee: the same, for callers that are not part of the plan. Numbered messages are put in order, once each. */
export function calleeLayers({ off, numbered }: LinkSwitches, name: string): readonly Layer[] {
  return [refuse(off), ...(numbered ? [reorder({ destination: name, clock: systemClock })] : [])];
}

function refuse(off: LinkSwitches["off"]): Layer {
  return (next) => (operation, call) => {
    const wanted = FEATURES.find((name) => off[name] !== undefined && USES[name](operation));
    if (wanted === undefined) return next(operation, call);
    return Promise.reject(new AgentError("unsupported", `${wanted} is off here: ${off[wanted]}`, { sent: "no" }));
  };
}

/** Which operations need a feature. `identity` and `end-to-end` are demanded by admission and by the floor. */
const USES = {
  streaming: (operation: Operation) =>
    operation.kind === "task.subscribe" || (operation.kind === "send" && operation.delivery === "stream"),
  // Reading a task passes: there is none, and some protocols ping that way.
  "long-job": (operation: Operation) =>
    operation.kind === "push.set" || (operation.kind === "send" && operation.delivery === "accepted"),
  artifact: (operation: Operation) => operation.kind === "send" && operation.envelope.content.some(({ kind }) => kind === "url"),
} as const;
const FEATURES = Object.keys(USES) as readonly (keyof typeof USES)[]; // its keys
