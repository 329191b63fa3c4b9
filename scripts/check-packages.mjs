// npm run packages: packs each published package as npm would, and asks publint, attw and `npm publish --dry-run` about it.
// Nothing leaves this machine. Exit code 1 where any of them finds anything.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, posix } from "node:path";

const root = join(import.meta.dirname, "..");
const published = [
  "packages/edgetable",
  "packages/local",
  "packages/testing",
  "packages/eslint-plugin",
  "packages/opentelemetry",
  "packages/create-edgetable",
  "packages/studio",
  "packages/cli",
  "packages/analytics",
];
const required = ["package.json", "README.md", "LICENSE"];
// The template of create-edgetable ships a test of its own.
const unwanted = /^(?!template\/).*[.](test|test-d|test-support)[.]|(^|\/)test-support\/|[.]tsbuildinfo$|(^|\/)[.]env/;
const leftovers = /auto-corrected|errors corrected/;

const run = (command, args, folder = root) => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  return { ok: status === 0, stdout: stdout ?? "", text: `${stdout ?? ""}${stderr ?? ""}`.trim() };
};
const tool = (name, args) => run(process.execPath, [join(root, "node_modules", name), ...args]);

const pack = (folder, destination) => {
  const { ok, stdout, text } = run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", destination], join(root, folder));
  if (!ok) throw new Error(`npm pack of ${folder} failed:\n${text}`);
  const packed = JSON.parse(stdout);
  // npm 11 gives a list; later versions an object by package name.
  const [found] = Array.isArray(packed) ? packed : Object.values(packed);
  return { tarball: join(destination, found.filename), files: found.files.map(({ path }) => path), size: found.size };
};

const checkFiles = (files, folder) => {
  const missing = [...required, ...(folder === "packages/edgetable" ? ["docs/errors.md"] : [])]
    .filter((name) => !files.includes(name))
    .map((name) => `${name} is not in the package`);
  const extra = files.filter((path) => unwanted.test(path)).map((path) => `${path} does not belong in the package`);
  return [...missing, ...extra];
};

/** Every file that the manifest's exports, types and programs name. */
const targetsOf = (value) => (typeof value === "string" ? [value.replace(/^[.]\//, "")] : Object.values(value ?? {}).flatMap(targetsOf));

const checkTargets = ({ exports, bin }, files) =>
  [...targetsOf(exports), ...targetsOf(bin)]
    .filter((path) => !files.includes(path))
    .map((path) => `package.json names ${path}, which is not in the package`);

/** The anchors of a page's headings, as GitHub makes them. */
const anchorsOf = (text) =>
  new Set(
    [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(/\s/g, "-"),
    ),
  );

/** Relative links of the package's Markdown files that lead to no file or folder of the package, or to no heading of one. */
const checkLinks = (files, folder) => {
  const pageOf = (path) => readFileSync(join(root, folder, path), "utf8").replaceAll(/^ *```[^]*?^ *```/gm, "");
  const known = new Set(files);
  for (const path of files) for (let at = dirname(path); at !== "."; at = dirname(at)) known.add(at);
  const link = /\]\(([^)\s]+)[^)]*\)|\b(?:src|href)="([^"]+)"|^\[[^\]]+\]: +(\S+)/gm;
  return files
    .filter((path) => path.endsWith(".md"))
    .flatMap((path) =>
      [
        ...pageOf(path)
          .replaceAll(/`[^`\n]*`/g, "")
          .matchAll(link),
      ]
        .map(([, inline, attribute, reference]) => inline ?? attribute ?? reference)
        .filter((target) => !/^[a-z][a-z\d+.-]*:/i.test(target))
        .filter((target) => {
          const [to, anchor] = target.split("#");
          const page = to === "" ? path : posix.join(dirname(path), to).replace(/\/$/, "");
          return !known.has(page) || (anchor && page.endsWith(".md") && !anchorsOf(pageOf(page)).has(anchor));
        })
        .map((target) => `${path} links to ${target}, which is not in the package`),
    );
};

/** What a stranger's machine could not install or resolve. */
const checkManifest = ({ dependencies = {} }) =>
  Object.entries(dependencies)
    .filter(([, version]) => /^(file|link|workspace|git|https?):/.test(version) || version === "*")
    .map(([name, version]) => `dependency ${name} has the version ${version}`);

const checkTools = (folder, { tarball }, { exports }) => {
  const publint = tool("publint/src/cli.js", ["run", tarball, "--strict"]);
  const hasModules = Object.keys(exports ?? {}).some((entry) => entry !== "./package.json");
  // What has CommonJS files is held to both ways of loading it.
  const profile = JSON.stringify(exports ?? {}).includes('"require"') ? "node16" : "esm-only";
  const attw = hasModules ? tool("@arethetypeswrong/cli/dist/index.js", [tarball, "--profile", profile, "--no-emoji"]) : { ok: true };
  const publish = run("npm", ["publish", "--dry-run", "--ignore-scripts"], join(root, folder));
  return [
    ...(publint.ok ? [] : [`publint --strict:\n${publint.text}`]),
    ...(attw.ok ? [] : [`attw --profile ${profile}:\n${attw.text}`]),
    ...(publish.ok && !leftovers.test(publish.text) ? [] : [`npm publish --dry-run:\n${publish.text}`]),
  ];
};

const checkPackage = (folder, destination) => {
  const manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  const packed = pack(folder, destination);
  const findings = [
    ...checkFiles(packed.files, folder),
    ...checkTargets(manifest, packed.files),
    ...checkLinks(packed.files, folder),
    ...checkManifest(manifest),
    ...checkTools(folder, packed, manifest),
  ];
  console.log(
    `${findings.length === 0 ? "ok  " : "FAIL"} ${manifest.name} ${manifest.version}: ${packed.files.length} files, ${Math.ceil(packed.size / 1024)} KB packed`,
  );
  for (const finding of findings) console.log(`     ${finding.replaceAll("\n", "\n     ")}`);
  return findings.length;
};

const destination = mkdtempSync(join(tmpdir(), "edgetable-packages-"));
try {
  const findings = published.reduce((sum, folder) => sum + checkPackage(folder, destination), 0);
  process.exitCode = findings === 0 ? 0 : 1;
} finally {
  rmSync(destination, { recursive: true, force: true });
}
