/** Tags (number and wire type) of the fields of google.protobuf's own messages. */
const VARINT = 0;
const DOUBLE = 1;
const LENGTH = 2;

/** An entry of any map. */
export const KEY = (1 << 3) | LENGTH;
export const VALUE = (2 << 3) | LENGTH;

/** Struct: a map of values. */
export const STRUCT_FIELD = (1 << 3) | LENGTH;
/** ListValue: repeated values. */
export const LIST_ITEM = (1 << 3) | LENGTH;

/** Value: one of these. */
export const NULL = (1 << 3) | VARINT;
export const NUMBER = (2 << 3) | DOUBLE;
export const STRING = (3 << 3) | LENGTH;
export const BOOL = (4 << 3) | VARINT;
export const STRUCT = (5 << 3) | LENGTH;
export const LIST = (6 << 3) | LENGTH;

/** Timestamp: seconds as an int64, and nanoseconds. */
export const SECONDS = (1 << 3) | VARINT;
export const NANOS = (2 << 3) | VARINT;
