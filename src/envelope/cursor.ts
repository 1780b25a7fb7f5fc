/** A place in a task's log. Opaque to everyone but its maker; it names task and sequence, so that a resume needs no other state. */
export type Cursor = string & { readonly __cursor: never };
