import { definePatterns } from "edgetable";
import { dependencies } from "./model.ts";
import type { Subject } from "./subject.ts";

/** The questions that `npm ls` and `npm explain` answer by reading the whole lockfile, and a few that they do not. */
export const patternsAbout = ({ root, needed, needs, versions, license, linked }: Subject) =>
  definePatterns(dependencies, {
    needsOfProject: {
      question: "What does the project itself need?",
      example: root,
      ask: (db, id) => db.package(id).out("dependsOn").edges(),
    },
    developmentNeedsOfProject: {
      question: "What does it need for its development alone?",
      example: root,
      ask: (db, id) => db.package(id).out("dependsOn").where({ kind: "dev" }).edges(),
    },
    needsOfPackage: {
      question: "What does a package need, and which versions has it got?",
      example: needed,
      ask: (db, id) => db.package(id).out("dependsOn").entries(),
    },
    whoNeeds: {
      question: "Who needs a package?",
      example: needed,
      ask: (db, id) => db.package(id).in("dependsOn").edges(),
    },
    howManyNeed: {
      question: "How many need it?",
      example: needed,
      ask: (db, id) => db.package(id).in("dependsOn").count(),
    },
    isNeededBy: {
      question: "Does one package need another?",
      example: needs,
      ask: (db, { location, on }) => db.package({ location }).has("dependsOn", { location: on }),
    },
    entry: {
      question: "What does a package's own entry say?",
      example: needed,
      ask: (db, id) => db.package.get(id),
    },
    packageWithNeeds: {
      question: "What is a package, and what does it need?",
      example: needed,
      ask: (db, id) => db.package(id).collection(),
    },
    versionsOfName: {
      question: "Which versions of a package are installed, and where?",
      example: versions,
      ask: (db, name) => db.name(name).out("installed").nodes(),
    },
    packagesUnderLicense: {
      question: "Which packages are under a licence?",
      example: license,
      ask: (db, id) => db.license(id).out("covers").ids(),
    },
    linksToFolder: {
      question: "Where is a folder linked from?",
      example: linked,
      ask: (db, id) => db.package(id).in("linksTo").ids(),
    },
  });
