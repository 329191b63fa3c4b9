import { createContext, useContext } from "react";
import type { ModelAnswer, WireType } from "../wire.ts";

/** The model of the table, which every view knows. */
export const ModelContext = createContext<ModelAnswer | undefined>(undefined);

/** The model; the app renders no view without it. */
export const useModel = (): ModelAnswer => {
  const model = useContext(ModelContext);
  if (!model) throw new Error("A view was rendered before the model was loaded.");
  return model;
};

/** The node types whose items the table holds. */
export const gridTypes = (types: readonly WireType[]): readonly WireType[] =>
  types.filter(({ kind, stored }) => kind === "node" && stored !== "keys only");
