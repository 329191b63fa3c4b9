/**
 * Loads a module on the first call and keeps it: `import()` of a loaded module still takes about 5 µs each time. A failed
 * load is tried again.
 */
export const loadOnce = <Module>(load: () => Promise<Module>): (() => Module | Promise<Module>) => {
  let loaded: Module | undefined;
  return () => loaded ?? load().then((module) => (loaded = module));
};
