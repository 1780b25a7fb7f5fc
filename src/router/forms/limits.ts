/** Limits of a scenario file. Anything beyond is rejected, never truncated. */
export const SCENARIO_FILE_BYTES = 16 * 1024 * 1024;

/** Parsing YAML takes about seventy times its size in memory, so its limit is lower. */
export const YAML_CHARACTERS = 4 * 1024 * 1024;

/** Total number of alias expansions in YAML. */
export const YAML_ALIASES = 100;

/** Nesting depth. The deepest form needs six. */
export const DOCUMENT_DEPTH = 32;

export const SCENARIOS_PER_FILE = 10_000;
export const MODULES_PER_SCENARIO = 1_000;

/** Characters of all passages of a module; also of a description and of a text about all modules. */
export const CHARACTERS_PER_MODULE = 100_000;

/** Pairs of connected modules: enough for a mesh of sixty-three. */
export const LINKS_PER_SCENARIO = 2_000;

/** Characters of an id or role. */
export const CHARACTERS_PER_NAME = 200;
