export function peerProgram(name: "go" | "rust"): string;
export function buildPeers(): void;
