/**
 * Loads a module by the first call and keeps it, for calls that are made often: `import()` of what is
 * loaded already takes some 5 µs every time. What failed to load is tried again.
 */
export const loadOnce = <Module>(load: () => Promise<Module>): (() => Module | Promise<Module>) => {
  let loaded: Module | undefined;
  return () => loaded ?? load().then((module) => (loaded = module));
};
