/** The commands `koine agora …`. `koine --help` loads this module, so it imports the commands only when called. */
export const commands = async () => (await import("./documents/commands.js")).commands;
