export function peerProgram(name: "go" | "grpcurl" | "rust"): string;
export function buildPeers(): void;
