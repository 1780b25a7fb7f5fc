/**
 * The fields of a message by name. Nothing is inherited, so any name is safe. Made by a constructor, because V8 makes what
 * `Object.create(null)` returns a hash table, which costs several times as much to fill.
 */
export class FieldMap {
  [name: string]: string;
}
Reflect.setPrototypeOf(FieldMap.prototype, null);
Reflect.deleteProperty(FieldMap.prototype, "constructor");
