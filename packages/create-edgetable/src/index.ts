export { createProject, version, type Project } from "./create-project.ts";
export { describeProject } from "./describe-project.ts";
