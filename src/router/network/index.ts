/** From decisions to a network of nodes, links and bridges. */
export { buildNetwork } from "./build-network.js";
export {
  LINK_FEATURES,
  type LinkFeature,
  type LinkFeatureName,
  type Network,
  type NetworkBridge,
  type NetworkLink,
  type NetworkNode,
} from "./network.js";
export {
  type AllowedDowngrade,
  type DecisionRecord,
  type Decisions,
  NETWORK_LIMITS,
  type NetworkModule,
  type NetworkSettings,
} from "./plan-input.js";
