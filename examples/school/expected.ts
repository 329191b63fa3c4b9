import type { ExpectedOf } from "../system.ts";
import type { patterns } from "./patterns.ts";

const from = { studentId: "TOM" };
const tom = { ...from, name: "Tom" };
const losAngeles = { country: "USA", state: "CA", city: "LOS_ANGELES" };
const math = { from, to: { teacherId: "SIMON" }, class: "MATH", subject: "Math", teacherName: "Simon" };
const physics = { from, to: { teacherId: "MICHAEL" }, class: "PHYSICS", subject: "Physics", teacherName: "Michael" };
const home = { from, to: losAngeles };

/** What the rows answer, by the requests that they were made for. */
export const expected: ExpectedOf<typeof patterns> = {
  studentAndEverything: {
    answer: { node: tom, edges: { livesIn: [home], takes: [physics, math] }, parts: {} },
    requests: ["Query PK = 'STUDENT#TOM'"],
  },
  classesOfStudent: {
    answer: [physics, math],
    requests: ["Query PK = 'STUDENT#TOM' AND begins_with(SK, 'TEACHER#')"],
  },
  // The prefix goes on to the next level's name, which every such key has: a longer id never matches.
  classesWithTeacher: {
    answer: [math],
    requests: ["Query PK = 'STUDENT#TOM' AND begins_with(SK, 'TEACHER#SIMON#CLASS#')"],
  },
  homeInCountry: {
    answer: [losAngeles],
    requests: ["Query PK = 'STUDENT#TOM' AND begins_with(SK, 'HOME#USA#')"],
  },
  homeInState: {
    answer: [losAngeles],
    requests: ["Query PK = 'STUDENT#TOM' AND begins_with(SK, 'HOME#USA#CA#')"],
  },
  // At the last level the key is whole: equality, where begins_with would also meet LOS_ANGELES_NORTH.
  homeInCity: {
    answer: [losAngeles],
    requests: ["Query PK = 'STUDENT#TOM' AND SK = 'HOME#USA#CA#LOS_ANGELES'"],
  },
  studentsOfTeacher: {
    answer: [{ edge: math, node: tom }],
    requests: ["Query GSI1: GSI1PK = 'TEACHER#SIMON' AND begins_with(GSI1SK, 'CLASS#')", "BatchGetItem ('STUDENT#TOM', 'STUDENT#TOM')"],
  },
  studentsOfClass: {
    answer: [math],
    requests: ["Query GSI1: GSI1PK = 'TEACHER#SIMON' AND GSI1SK = 'CLASS#MATH'"],
  },
  residentsOfCountry: {
    answer: [home],
    requests: ["Query GSI1: GSI1PK = 'COUNTRY#USA' AND begins_with(GSI1SK, 'HOME#')"],
  },
  residentsOfState: {
    answer: [home],
    requests: ["Query GSI1: GSI1PK = 'COUNTRY#USA' AND begins_with(GSI1SK, 'HOME#CA#')"],
  },
  residentsOfCity: {
    answer: [tom],
    requests: ["Query GSI1: GSI1PK = 'COUNTRY#USA' AND GSI1SK = 'HOME#CA#LOS_ANGELES'", "BatchGetItem ('STUDENT#TOM', 'STUDENT#TOM')"],
  },
  studentInIndex: {
    answer: { node: tom, edges: {}, parts: {} },
    requests: ["Query GSI1: GSI1PK = 'STUDENT#TOM'"],
  },
  student: {
    answer: tom,
    requests: ["GetItem PK = 'STUDENT#TOM', SK = 'STUDENT#TOM'"],
  },
};
