import type { Maybe } from "../../envelope/index.js";
import { type CapabilityId, type Features, LINK_FEATURES, type LinkFeatureName } from "../../protocols/features.js";
import type { Protocol } from "../../protocols/protocol.js";
import type { LinkFeature } from "./network.js";
import type { DecidedModule } from "./plan-input.js";

interface Toggle {
  /** A module that needs one of these requests the feature. */
  readonly askedBy: readonly CapabilityId[];
  /** Has a cost: on only if requested, or on links of a protocol that is designed for one of these. Absent: on wherever it is supported. */
  readonly broughtWith?: readonly CapabilityId[];
}

const TOGGLES: { readonly [name in LinkFeatureName]: Toggle } = {
  streaming: { askedBy: ["streaming"] },
  "long-job": { askedBy: ["job-lifecycle"] },
  artifact: { askedBy: ["bulk-transfer"] },
  "state-sync": { askedBy: ["ordering"] },
  // A protocol with ordinary sign-in leaves it to the deployment: only one in which each party proves who it is brings identity along.
  identity: {
    askedBy: ["verified-identity", "enterprise-auth", "scoped-consent"],
    broughtWith: ["verified-identity", "scoped-consent"],
  },
  "end-to-end": { askedBy: ["end-to-end-secrecy"], broughtWith: ["end-to-end-secrecy"] },
};

/** The six features of a node: those its protocol has, and those requested by it or its neighbours. */
export function decideNativeFeatures(
  module: DecidedModule,
  protocol: Maybe<Protocol>,
  requesters: readonly DecidedModule[] = [module],
): readonly LinkFeature[] {
  return LINK_FEATURES.map((name) => nativeFeature(name, module.row.name, protocol, requesters));
}

function nativeFeature(
  name: LinkFeatureName,
  called: string,
  protocol: Maybe<Protocol>,
  requesters: readonly DecidedModule[],
): LinkFeature {
  const { askedBy, broughtWith }: Toggle = TOGGLES[name];
  const off = (because: string): LinkFeature => ({ name, on: false, primitive: "", because });
  const asked = statedBy(requesters, "requires", askedBy);
  const avoided = statedBy(requesters, "avoids", askedBy);
  const unmet = asked === undefined ? "" : `, though ${asked}`;
  if (protocol === undefined) return off(`${called} is not registered${unmet}`);
  const primitive = protocol.primitives?.[name];
  if (primitive === undefined) return off(`${called} has no primitive for it${unmet}`);
  if (avoided !== undefined) return off(avoided);
  if (asked !== undefined) return { name, on: true, primitive, because: asked };
  if (broughtWith !== undefined && !requesters.some(({ row }) => isMadeFor(row, broughtWith))) return off("not requested");
  return { name, on: true, primitive, because: `${called} brings it` };
}

/** `till requires streaming`, of the first module that does. */
function statedBy(
  modules: readonly DecidedModule[],
  stance: "requires" | "avoids",
  capabilities: readonly CapabilityId[],
): Maybe<string> {
  for (const module of modules) {
    const capability = capabilities.find((each) => module[stance].includes(each));
    if (capability !== undefined) return `${module.id} ${stance} ${capability}`;
  }
  return undefined;
}

function isMadeFor({ orientation, inherent }: Features, capabilities: readonly CapabilityId[]): boolean {
  return [...orientation, ...inherent].some((capability) => capabilities.includes(capability));
}

/** A feature of a link is on if it is on at both ends. */
export function linkFeature(src: LinkFeature, dst: LinkFeature, bridged: boolean): LinkFeature {
  const { name } = src;
  const missing = src.on ? dst : src;
  if (!missing.on) return { name, on: false, primitive: "", because: missing.because };
  if (!bridged) return { name, on: true, primitive: dst.primitive, because: dst.because };
  if (name === "end-to-end") return { name, on: false, primitive: "", because: "a bridge reads what it translates" };
  return { name, on: true, primitive: `${src.primitive} → ${dst.primitive}`, because: "both sides of the bridge have it" };
}
