/** Message capture: every message in and out, with bytes, envelope, answer and losses. */

export {
  CAPTURE_LIMITS,
  type CapturedEvent,
  type CapturedMessage,
  type CapturedMessageSummary,
  type CaptureFeed,
  type CaptureFilter,
  type CaptureLimits,
  type CaptureLog,
  type WireBytes,
} from "./captured-message.js";
export { META_MEMBER } from "./document.js";
export { type FeedItem, followFeed, type InspectedHost, readMessage, readMessages, readTrace } from "./feed-client.js";
export { createInspector, type InspectingTelemetry, type Inspector, type InspectorOptions } from "./inspector.js";
export { type InspectorRouteOptions, inspectorRoutes } from "./routes.js";
