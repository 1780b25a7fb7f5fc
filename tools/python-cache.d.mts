export function environmentFolder(name: string, requirements: string): string;
export function interpreterIn(folder: string): string;
