/** The commands `koine sage …`. `koine --help` loads this module, so it imports the commands only when called. */
export const commands = async () => (await import("./node/commands.js")).commands;
