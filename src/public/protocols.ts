/** The protocol contract: what a protocol is, which there are, and what serves them. */

export { type RelayOptions, relay } from "../bridge/index.js";
export { agentClient } from "../client/index.js";
export { CallerCredential, cancelFrom, startCall, TaskFold } from "../envelope/index.js";
export {
  type CommandTools,
  createHost,
  type ExtraRoute,
  type Finding,
  type Front,
  front,
  type Host,
  type HostParts,
  type IdSource,
  type Link,
  type Peer,
  type Protocol,
  type ProtocolCommand,
  protocols,
  type Route,
  type SampleCall,
  type SendCodec,
  type Served,
  type SettingInfo,
  selectInterfaces,
  type Traits,
} from "../protocols/index.js";
export type { Exchange, HttpHeaders, HttpRequest, HttpResponse } from "../transport/index.js";
export { memoryLink } from "../transport/memory.js";
