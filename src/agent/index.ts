/** ① The doorway: make an agent, serve it, call others. */
export type { AddressBook, PeerAddress } from "./address-book.js";
export { type Agent, type AgentOptions, type AgentSkill, agent } from "./agent.js";
export type { HostOptions } from "./assemble.js";
export {
  type Bridge,
  type BridgedAgent,
  type BridgeFacts,
  type BridgeOptions,
  type BridgeSettings,
  bridge,
  bridgedAgent,
  nameFrom,
} from "./bridge.js";
export type { CallOutcome } from "./call-outcomes.js";
export type { ProtocolChooser } from "./choose-protocol.js";
export { connect, type RemoteAgent } from "./connect.js";
export { type ClientCredentials, type Credentials, credentialHeaders } from "./credentials.js";
export type { EdgeOptions } from "./edge.js";
export type { ArtifactOptions } from "./large-parts.js";
export { type Mounted, type MountOptions, mount } from "./mount.js";
export type { Shares } from "./pick-interface.js";
export { type PushReceiver, type PushReceiverOptions, pushReceiver } from "./push-receiver.js";
export type { PushOptions } from "./push-sender.js";
export type { ConnectOptions } from "./reach.js";
export { type SendOptions, type Speaker, speaker, textOfAnswer, type Webhook } from "./remote-agent.js";
export { type ReplaceOptions, type ServeOptions, type Server, serve } from "./serve.js";
export { type CallerSharing, type SharedCallers, sharingCallers, type UpstreamCredentials } from "./upstream-credentials.js";
export { DEFAULT_VERDICT_LIMITS, type VerdictLimits, Verdicts } from "./verdicts.js";
