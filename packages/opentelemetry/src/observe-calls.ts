/** Runs a call, or a step of an iteration, under observation. */
export interface CallObserver {
  /**
   * Makes one call.
   *
   * @param name the call's form without its values, such as `student.out(enrolledIn).page`
   */
  call<T>(name: string, make: () => Promise<T>): Promise<T>;
  /** Begins to observe an iteration, which runs each of its steps in it and ends it once. */
  iteration(name: string): Iteration;
}

/** An iteration under observation. */
export interface Iteration {
  step<T>(next: () => Promise<T>): Promise<T>;
  /** Ends the iteration. Later calls have no effect. */
  end(how: { readonly error?: unknown }): void;
}

type Method = (...args: unknown[]) => unknown;
type Members = Readonly<Record<PropertyKey, unknown>>;

/** A call of the library as far as this package changes it; see `Call` of `edgetable`. */
interface MadeCall {
  then: Promise<unknown>["then"];
  catch: Promise<unknown>["catch"];
  finally: Promise<unknown>["finally"];
  run: (options?: unknown) => Promise<unknown>;
  report: (options?: unknown) => Promise<unknown>;
}

const isFunction = (value: unknown): value is Method => typeof value === "function";
const isObject = (value: unknown): value is Members => typeof value === "object" && value !== null;
const isThenable = (value: unknown): value is Members => isObject(value) && isFunction(value["then"]);
const isCall = (value: unknown): value is MadeCall & Members =>
  isThenable(value) && isFunction(value["explain"]) && isFunction(value["report"]);

/** Members of a connection whose functions start at once and give a promise. */
const STARTING = new Set(["table", "jobs", "migrations", "load", "reshard"]);
/** Methods whose first argument is a name of the model: it belongs to the call's form. */
const NAMING = new Set(["out", "in", "both", "parts", "find", "has"]);
/** Methods that only refine a call. */
const REFINING = new Set(["where", "whereNode", "limit", "select", "consistent", "unordered", "reverse", "using", "within"]);

const namedIn = (given: unknown): string => {
  if (typeof given === "string") return given;
  return Array.isArray(given) && given.every((one) => typeof one === "string") ? given.join("+") : "";
};

/** The path of a call's form after one more method. */
const extended = (path: readonly string[], method: string, args: readonly unknown[]): readonly string[] => {
  if (REFINING.has(method)) return path;
  const named = NAMING.has(method) ? namedIn(args[0]) : "";
  return [...path, named === "" ? method : `${method}(${named})`];
};

/** Changes a call in place, because a transaction recognizes its calls by what they carry. */
const observeCall = (call: MadeCall, name: string, observer: CallObserver): MadeCall => {
  const { run, report, then } = call;
  let made: Promise<unknown> | undefined;
  const once = (): Promise<unknown> =>
    (made ??= observer.call(name, async () => new Promise((resolve, reject) => void then(resolve, reject))));
  return Object.assign(call, {
    run: async (options?: unknown) => observer.call(name, async () => run(options)),
    report: async (options?: unknown) => observer.call(name, async () => report(options)),
    // oxlint-disable-next-line unicorn/no-thenable -- a call is made by awaiting it
    then: (onFulfilled?: never, onRejected?: never) => once().then(onFulfilled, onRejected),
    catch: (onRejected?: never) => once().catch(onRejected),
    finally: (onSettled?: never) => once().finally(onSettled),
  });
};

const observeIteration = (iterator: AsyncIterator<unknown>, name: string, observer: CallObserver): AsyncIterator<unknown> => {
  let iteration: Iteration | undefined;
  const step = async (next: () => Promise<IteratorResult<unknown>>): Promise<IteratorResult<unknown>> => {
    iteration ??= observer.iteration(name);
    try {
      const result = await iteration.step(next);
      if (result.done) iteration.end({});
      return result;
    } catch (error) {
      iteration.end({ error });
      throw error;
    }
  };
  return {
    next: async () => step(async () => iterator.next()),
    return: async (value: unknown) => step(async () => (await iterator.return?.(value)) ?? { done: true, value }),
    throw: async (error: unknown) => {
      iteration?.end({ error });
      if (iterator.throw) return iterator.throw(error);
      throw error;
    },
  };
};

const observeResult = (result: unknown, path: readonly string[], observer: CallObserver): unknown => {
  if (isCall(result)) return observeCall(result, path.join("."), observer);
  if (!isObject(result) || isThenable(result) || Array.isArray(result)) return result;
  const isBuilder =
    Symbol.asyncIterator in result || Object.getPrototypeOf(result) !== Object.prototype || Object.values(result).some(isFunction);
  return isBuilder ? observeMembers(result, path, observer) : result;
};

/**
 * A connection, or a builder of one, whose calls are observed. Builders keep their state in private members, so that their
 * methods run on the builder itself and never on the proxy.
 *
 * @param path the form of the call so far
 */
export const observeMembers = <Target extends object>(target: Target, path: readonly string[], observer: CallObserver): Target =>
  new Proxy(target, {
    get: (_, key) => {
      const value: unknown = Reflect.get(target, key, target);
      if (key === Symbol.asyncIterator && isFunction(value))
        return () => observeIteration(value.call(target) as AsyncIterator<unknown>, path.join("."), observer);
      if (typeof key === "symbol" || key === "catalog") return value;
      if (isFunction(value)) return observeFunction(target, { value, key, path }, observer);
      return isObject(value) && !Array.isArray(value) ? observeMembers(value, [...path, key], observer) : value;
    },
  });

/** A function of a connection or a builder. `db.student` is one that has members of its own. */
const observeFunction = (
  owner: object,
  { value, key, path }: { readonly value: Method; readonly key: string; readonly path: readonly string[] },
  observer: CallObserver,
): Method =>
  new Proxy(value, {
    apply: (method, _, args: unknown[]) => {
      // A tenant's connection has the names of the connection that it is made from.
      if (path.length === 0 && key === "as") return observeMembers(method.apply(owner, args) as object, [], observer);
      const form = extended(path, key, args);
      if (!STARTING.has(path[0] ?? key)) return observeResult(method.apply(owner, args), form, observer);
      return observer.call(form.join("."), async () => method.apply(owner, args));
    },
    get: (_, member) => {
      const found: unknown = Reflect.get(value, member, value);
      return typeof member === "string" && isFunction(found) && !(member in Function.prototype)
        ? observeFunction(value, { value: found, key: member, path: [...path, key] }, observer)
        : found;
    },
  });
