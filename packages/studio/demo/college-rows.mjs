const first = [
  "Ada",
  "Alan",
  "Barbara",
  "Carl",
  "Dorothy",
  "Edsger",
  "Emmy",
  "Grace",
  "Hedy",
  "Ivan",
  "Joan",
  "Katherine",
  "Leslie",
  "Margaret",
  "Niklaus",
  "Olga",
  "Peter",
  "Radia",
  "Sofia",
  "Tim",
];
const last = [
  "Lovelace",
  "Turing",
  "Liskov",
  "Gauss",
  "Hodgkin",
  "Dijkstra",
  "Noether",
  "Hopper",
  "Lamarr",
  "Sutherland",
  "Clarke",
  "Johnson",
  "Lamport",
  "Hamilton",
  "Wirth",
  "Ladyzhenskaya",
  "Naur",
  "Perlman",
  "Kovalevskaya",
  "Lee",
];
const courses = [
  ["C101", "Linear Algebra", "basic"],
  ["C102", "Calculus", "basic"],
  ["C103", "Programming", "basic"],
  ["C104", "Physics", "basic"],
  ["C201", "Algorithms", "basic"],
  ["C202", "Databases", "basic"],
  ["C203", "Statistics", "basic"],
  ["C301", "Distributed Systems", "advanced"],
  ["C302", "Graph Theory", "advanced"],
  ["C303", "Compilers", "advanced"],
  ["C304", "Cryptography", "advanced"],
  ["C305", "Machine Learning", "advanced"],
];
const requires = [
  "C301 C201",
  "C301 C202",
  "C302 C101",
  "C303 C201",
  "C304 C302",
  "C305 C203",
  "C305 C101",
  "C203 C102",
  "C201 C103",
  "C202 C103",
];
const teachers = ["Emmy Noether", "Edgar Codd", "Barbara Liskov", "Donald Knuth", "Frances Allen", "Paul Erdős"];
const topics = ["Introduction", "Vectors", "Proofs", "Exercises", "Applications", "Review"];

const padded = (number, width) => String(number).padStart(width, "0");

/** Rows for `edgetable load`, the same for the same number of students. */
export const collegeRows = (students, now = Date.now()) => {
  const names = Array.from(
    { length: students },
    (_, at) => `${first[at % first.length]} ${last[(at + Math.floor(at / first.length)) % last.length]}`,
  );
  const address = (name, at) => `${name.toLowerCase().replace(" ", ".")}${at < first.length ? "" : at}@college.example`;
  const studentId = (at) => `S${padded(at + 1, 3)}`;
  // Each takes four courses; everybody takes the first.
  const enrolments = names.flatMap((_, at) => [0, 1 + (at % 4), 5 + (at % 3), 7 + (at % 5)].map((course, nth) => ({ at, course, nth })));
  return {
    nodes: {
      student: names.map((name, at) => ({ studentId: studentId(at), name, email: address(name, at), year: 1 + (at % 4) })),
      course: courses.map(([courseId, title, level], at) => ({ courseId, title, level, credits: 4 + (at % 3) * 2 })),
      teacher: teachers.map((name, at) => ({ teacherId: `T${at + 1}`, name, ...(at % 2 === 0 ? { office: `B ${210 + at}` } : {}) })),
      session: Array.from({ length: Math.ceil(students / 8) }, (_, at) => ({
        sessionId: `8f${padded(at * 7919, 6)}`,
        studentId: studentId(at * 8),
        device: at % 2 === 0 ? "Firefox on Linux" : "Safari on iPhone",
        until: Math.floor(now / 1000) + (at - 1) * 3600,
      })),
    },
    parts: {
      lecture: courses.flatMap(([courseId], at) =>
        topics.slice(0, 3 + (at % 4)).map((topic, week) => ({
          owner: { courseId },
          week: week + 1,
          topic,
          minutes: 90,
          ...(week === 0 ? { slides: ["outline", "history"] } : {}),
        })),
      ),
      note: names.flatMap((_, at) =>
        at % 5 === 0
          ? [
              {
                owner: { studentId: studentId(at) },
                number: 1,
                text: at === 0 ? "<img src=x onerror=alert(1)>" : "Asked for a place in the library.",
              },
            ]
          : [],
      ),
    },
    edges: {
      enrolledIn: enrolments.map(({ at, course, nth }) => ({
        from: { studentId: studentId(at) },
        to: { courseId: courses[course]?.[0] },
        at: `2026-0${1 + nth * 2}-${padded(1 + (at % 28), 2)}`,
        ...((at + nth) % 3 === 0 ? {} : { grade: ["A", "B", "C"][(at + nth) % 3] }),
      })),
      teaches: courses.map(([courseId], at) => ({
        from: { teacherId: `T${1 + (at % teachers.length)}` },
        to: { courseId },
        since: 2015 + (at % 9),
      })),
      // Somebody else gives a course's third lecture.
      gives: courses.map(([courseId], at) => ({ from: { teacherId: `T${1 + ((at + 1) % teachers.length)}` }, to: { courseId, week: 3 } })),
      requires: requires.map((pair) => ({ from: { courseId: pair.slice(0, 4) }, to: { courseId: pair.slice(5) } })),
    },
  };
};

const subjects = [
  "Sorting networks",
  "Suffix trees",
  "Maximum flow",
  "Skip lists",
  "Bloom filters",
  "Minimum spanning trees",
  "String matching",
];
const remarks = ["", "Asked for a week more.", "", "Has a good test set.", "", "", "Needs a second reader."];

/** A CSV file of projects of a course, with columns that become fields: `edgetable grid import` tells their types. */
export const projectsCsv = (count) =>
  [
    "projectId,num,title,state,Topic,Due,Points,Passed,Methods,Remarks",
    ...Array.from({ length: count }, (_, at) => {
      const isGraded = at % 3 !== 1;
      return [
        `P${padded(at + 1, 3)}`,
        at + 1,
        `${subjects[at % subjects.length]} ${["in practice", "revisited", "by hand", "at scale"][Math.floor(at / 7) % 4]}`,
        isGraded ? "graded" : "open",
        ["theory", "systems", "data"][at % 3],
        `2026-0${6 + (at % 3)}-${padded(1 + ((at * 7) % 28), 2)}`,
        isGraded ? 40 + ((at * 17) % 60) : "",
        isGraded ? String((at * 17) % 60 > 8) : "",
        ["proof", "proof; benchmark", "benchmark", "survey; proof"][at % 4],
        remarks[at % remarks.length],
      ].join(",");
    }),
  ]
    .map((line) => `${line}\n`)
    .join("");
