export { createProject, describeProject, version, type Project } from "./create-project.ts";
