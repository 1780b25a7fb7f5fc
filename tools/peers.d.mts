export function peerProgram(name: "agent-card" | "go" | "grpcurl" | "rust" | "sage-go"): string;
export function buildPeers(): void;
