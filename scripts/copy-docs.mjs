// Copies the pages that users need into packages/edgetable/docs, from where npm takes them: errors name `docs/errors.md`.
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const target = join(root, "packages", "edgetable", "docs");
await mkdir(target, { recursive: true });
for (const page of [
  "errors.md",
  "grids.md",
  "guide.md",
  "indexes.md",
  "layout.md",
  "migrations.md",
  "observability.md",
  "streams.md",
  "verify.md",
  "walks.md",
])
  await cp(join(root, "docs", page), join(target, page));
