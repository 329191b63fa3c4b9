// Adds to package-lock.json the platform packages that the registry in use does not carry.
//
// `npm install` leaves an optional dependency that it cannot fetch out of the lockfile without a word, and `npm ci` then
// fails everywhere with "lock file out of sync". The name of a platform package says all that the lockfile needs to skip
// it on other platforms. Run after each `npm install` that changes a tool; with --check it only tells (exit code 1).
//
// Every other entry has the integrity that npm holds a package to. Platform packages that were added here have none until
// --integrity asks a registry that carries them, one package at a time: run it once where the whole registry is in reach.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const path = new URL("../package-lock.json", import.meta.url);
const systems = ["android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "aix", "win32"];
const processors = ["x64", "arm64", "arm", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x"];

/** The os, cpu and libc fields that a platform package's name stands for. */
const platformOf = (name) => {
  const words = name.split(/[/-]/);
  const os = systems.find((system) => words.includes(system));
  const cpu = processors.find((processor) => words.includes(processor));
  if (!os || !cpu) throw new Error(`complete-lockfile: the name ${name} does not tell its platform`);
  const libc = words.some((word) => word.startsWith("musl")) ? "musl" : words.some((word) => word.startsWith("gnu")) ? "glibc" : undefined;
  return { os, cpu, libc: os === "linux" ? libc : undefined };
};

const entryOf = (name, version, parent) => {
  const { os, cpu, libc } = platformOf(name);
  return { version, cpu: [cpu], ...(parent.dev ? { dev: true } : {}), ...(libc ? { libc: [libc] } : {}), optional: true, os: [os] };
};

const missingFrom = (packages) =>
  Object.entries(packages).flatMap(([owner, parent]) =>
    Object.entries(parent.optionalDependencies ?? {})
      .filter(([name]) => !packages[`node_modules/${name}`] && !packages[`${owner}/node_modules/${name}`])
      .map(([name, version]) => [`node_modules/${name}`, entryOf(name, version, parent)]),
  );

const isPlatform = ({ optional, os }) => optional === true && os !== undefined;
const lacksIntegrity = ([place, { link, integrity }]) => place.includes("node_modules/") && !link && !integrity;

const integrityOf = (place, version) => {
  const name = place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);
  try {
    return execFileSync("npm", ["view", `${name}@${version}`, "dist.integrity"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return "";
  }
};

const sorted = ([left], [right]) => left.localeCompare(right, "en");

const lock = JSON.parse(readFileSync(path, "utf8"));
const missing = missingFrom(lock.packages);
const complete = { ...lock, packages: Object.fromEntries([...Object.entries(lock.packages), ...missing].sort(sorted)) };
const unsure = Object.entries(complete.packages).filter(lacksIntegrity);
const wrong = unsure.filter(([, entry]) => !isPlatform(entry)).map(([place]) => place);
if (wrong.length > 0)
  throw new Error(`package-lock.json has no integrity for ${wrong.join(", ")}: delete node_modules, and run npm install`);
if (process.argv.includes("--integrity")) {
  let found = 0;
  for (const [place, entry] of unsure) {
    const integrity = integrityOf(place, entry.version);
    if (!integrity.startsWith("sha512-")) continue;
    complete.packages[place] = { version: entry.version, integrity, ...entry };
    found++;
  }
  writeFileSync(path, `${JSON.stringify(complete, undefined, 2)}\n`);
  console.log(`found the integrity of ${found} platform packages; the registry in use lacks ${unsure.length - found}`);
} else if (missing.length === 0) console.log("package-lock.json names every platform package");
else if (process.argv.includes("--check")) {
  console.log(`package-lock.json lacks ${missing.length} platform packages: node scripts/complete-lockfile.mjs adds them`);
  process.exitCode = 1;
} else {
  writeFileSync(path, `${JSON.stringify(complete, undefined, 2)}\n`);
  console.log(`added ${missing.length} platform packages to package-lock.json`);
}
