import { createHash } from "node:crypto";
import { layerId, layerPlace, type Link } from "./walk-state.ts";
import type { NodeKey } from "./node-names.ts";
import type { WalkRun } from "./walk-run.ts";

type Path = readonly NodeKey[];

/** A name for a path, long enough that a cursor of a million of them confuses no two. */
export const pathPrint = (path: Path): string => createHash("sha256").update(JSON.stringify(path)).digest("base64url").slice(0, 16);

const isHop = (run: WalkRun, layer: number): boolean => {
  const { step, round } = layerPlace(layer);
  return run.request.plan.steps[step]?.kind === "hop" && Number.isInteger(round);
};

/** The ways to a node of a layer, from its end backwards, lazily: there may be very many. */
function* waysTo(run: WalkRun, at: Link, behind: Path): Generator<Path> {
  const links = run.state.links.get(at.layer)?.get(at.key) ?? [];
  for (const link of links) {
    if (!link) {
      yield behind;
      continue;
    }
    // A filter hands the very node on; a hop came from another.
    const next = isHop(run, link.layer) ? [link.key, ...behind] : behind;
    for (const path of waysTo(run, link, next)) {
      yield path;
      if (run.state.singles.has(at.layer)) return;
    }
  }
}

const isSimple = (path: Path): boolean => new Set(path).size === path.length;

/** Paths to everything that was reached and is not given yet, by end. */
export const pathsOf = (
  run: WalkRun,
  options: { readonly limit: number; readonly simple: boolean },
): { readonly paths: readonly Path[]; readonly more: boolean } => {
  const { state, request } = run;
  const layer = layerId(request.plan.steps.length, 0);
  const paths: Path[] = [];
  for (const key of state.links.get(layer)?.keys() ?? []) {
    for (const path of waysTo(run, { layer, key }, [key])) {
      if (options.simple && !isSimple(path)) continue;
      const name = pathPrint(path);
      if (state.givenPaths.has(name)) continue;
      if (paths.length === options.limit) return { paths, more: true };
      state.givenPaths.add(name);
      paths.push(path);
    }
  }
  return { paths, more: false };
};
