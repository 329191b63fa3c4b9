import { expect, test } from "vitest";
import { adoptedModels, defaults } from "./adopted-models.test-support.ts";
import { checkModel } from "./check-model.ts";

test.each(Object.entries({ ...adoptedModels, defaults }))("%s has no findings", (_, model) => {
  expect(checkModel(model)).toEqual([]);
});
