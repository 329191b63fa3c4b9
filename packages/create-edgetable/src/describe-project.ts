import { relative } from "node:path";
import type { Project } from "./create-project.ts";

const what: Readonly<Record<string, string>> = {
  "src/model.ts": "the graph, and the questions that it answers",
  "src/main.ts": "a script that writes and reads",
  "src/model.test.ts": "a test, with an engine of its own",
  "src/handler.ts": "a function for AWS Lambda",
};

const steps: readonly (readonly [command: string, effect: string])[] = [
  ["npm install", ""],
  ["npm test", "runs the test, on an engine in memory"],
  ["npm run dev", "starts an engine on this machine; leave it running"],
  ["npm start", "in another terminal: writes rows, and asks for them"],
  ["npx edgetable patterns", "shows what each question costs"],
];

const lines = (pairs: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...pairs.map(([first]) => first.length));
  return pairs.map(([first, second]) => `  ${first.padEnd(width)}   ${second}`.trimEnd()).join("\n");
};

// A name that a shell takes as one word needs no quotes.
const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`);

/** What was made, and what to do next; or what is in the way. */
export const describeProject = ({ created, folder, files, inTheWay }: Project, cwd: string): string => {
  const place = relative(cwd, folder);
  if (!created) {
    const found =
      inTheWay[0] === "."
        ? `${place === "" ? folder : place} is not a folder`
        : `${place === "" ? "This folder" : place} already has ${inTheWay.join(", ")}`;
    return `${found}. Nothing was written. Give the name of another folder.`;
  }
  const others = files.filter((file) => what[file.replaceAll("\\", "/")] === undefined);
  const enter: typeof steps = place === "" ? [] : [[`cd ${quoted(place)}`, ""]];
  return `Created a project in ${place === "" ? "this folder" : place}:

${lines(Object.entries(what))}
  ${others.join(", ")}

Next:

${lines([...enter, ...steps])}
`;
};
