/** SAGE, and agents that send and answer messages by A2A and SAGE. */

export { isSageError, type SageErrorName } from "../errors.js";
export type { AgentInfo } from "../identity/agent-record.js";
export { type DidCache, didSage } from "../identity/did-cache.js";
export type { Network } from "../identity/did-sage.js";
export { sageOver } from "../index.js";
export { A2AProtocol } from "./a2a-protocol.js";
export type { AgentSession } from "./agent-session.js";
export { AgentBuilder, type AgentServeOptions, type MessagingAgent, newAgent } from "./builder.js";
export type { Downgrade } from "./downgrades.js";
export {
  type Message,
  type MessageResponse,
  type NewMessage,
  newMessage,
  type ResponseEvent,
  type ResponseSecurity,
  readMessage,
  type SecurityMode,
  SecurityModeSAGE,
  type SecurityOptions,
  type Sensitivity,
  writeMessage,
} from "./message.js";
export {
  type CallOptions,
  type MessageProtocol,
  type MockFunctions,
  MockProtocol,
  type TaskOptions,
  withSession,
} from "./message-protocol.js";
export {
  type KoineOptions,
  koineOptions,
  NetworkEthereum,
  NetworkKaia,
  type OptionalSage,
  openDidManager,
  optional,
  type SageOptions,
} from "./options.js";
export type { DowngradeOpening, DowngradeReason, SagePolicy } from "./policy.js";
export { SAGEProtocol, type SageProtocolOptions } from "./sage-protocol.js";
export { SeenPeers } from "./seen-peers.js";
export {
  ProtocolA2A,
  ProtocolAuto,
  type ProtocolMode,
  ProtocolSAGE,
  ProtocolSelector,
  type SelectorOptions,
} from "./selector.js";
export { type BatchResult, MessageVerifier, signMessage, type VerifierOptions } from "./verify.js";
