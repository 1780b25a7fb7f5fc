/** Only what was given: a member that is there and undefined would hide a default. */
export function withoutUndefined<T extends object>(members: T): { readonly [Name in keyof T]?: Exclude<T[Name], undefined> } {
  // Nothing is changed but that undefined members are gone.
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    readonly [Name in keyof T]?: Exclude<T[Name], undefined>;
  };
}
