import type { Sessions } from "../sessions.js";
import { connectSession } from "./client.js";
import { serveSessions, sessionRoutes } from "./server.js";

/** The encrypted session over WebSocket, between two DIDs. */
export const sessions: Sessions = { routes: sessionRoutes, connect: connectSession, serve: serveSessions };
