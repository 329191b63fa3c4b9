// Copies the pages that users need into packages/edgetable/docs, from where npm takes them: errors name `docs/errors.md`.
import { cp, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const target = join(root, "packages", "edgetable", "docs");
await mkdir(target, { recursive: true });
// These are about the repository.
const inside = ["bundle.md", "dependencies.md", "index.md"];
const isPage = (name) => name.endsWith(".md") && !inside.includes(name);
for (const page of (await readdir(join(root, "docs"))).filter(isPage)) await cp(join(root, "docs", page), join(target, page));
