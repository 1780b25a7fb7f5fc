/** From decisions of the router to a network of nodes, links and bridges. */
export {
  type AllowedDowngrade,
  buildNetwork,
  type DecisionRecord,
  type Decisions,
  LINK_FEATURES,
  type LinkFeature,
  type LinkFeatureName,
  NETWORK_LIMITS,
  type Network,
  type NetworkBridge,
  type NetworkLink,
  type NetworkModule,
  type NetworkNode,
  type NetworkSettings,
} from "../router/network/index.js";
