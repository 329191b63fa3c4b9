import type { Course, Enrolment, Student } from "./calls.ts";

const number = (index: number): string => String(index).padStart(4, "0");

export const studentAt = (index: number, prefix = "S"): Student => ({
  studentId: `${prefix}${number(index)}`,
  name: `Student Number ${index}`,
  email: `student${index}@example.com`,
  yearLevel: 1 + (index % 4),
  major: "Computational Linguistics",
  city: "Ljubljana",
  country: "Slovenia",
  gpa: 2 + (index % 20) / 10,
  active: index % 3 !== 0,
  tags: ["honours", `cohort-${index % 7}`],
});

const courseAt = (index: number, prefix = "C"): Course => ({
  courseId: `${prefix}${number(index)}`,
  name: `Course Number ${index}`,
  professor: "Dr Mary Smith",
  credits: 2 + (index % 5),
  department: "Mathematics and Physics",
  room: `Hall ${index % 30}`,
  capacity: 40 + (index % 60),
  language: "English",
  level: "graduate",
  open: index % 2 === 0,
});

export const enrolmentOf = (student: Student, course: Course): Enrolment => ({
  studentId: student.studentId,
  courseId: course.courseId,
  enrolledAt: "2024-03-31T10:00:00",
  grade: "A",
  status: "confirmed",
  credits: course.credits,
  term: "2024-spring",
  note: `${course.name}, first attempt`,
});

const people = 200;
const degree = 20;
const spares = 100;

export const students: readonly Student[] = Array.from({ length: people }, (_, index) => studentAt(index));
export const courses: readonly Course[] = Array.from({ length: people }, (_, index) => courseAt(index));

/** Every student takes 20 courses and every course has 20 students. */
export const enrolments: readonly Enrolment[] = students.flatMap((student, index) =>
  Array.from({ length: degree }, (_, step) => enrolmentOf(student, courses[(index + step) % people] as Course)),
);

/** Nodes apart from the rest, so that enrolling and withdrawing leaves the lists at 20. */
export const spareStudents: readonly Student[] = Array.from({ length: spares }, (_, index) => studentAt(index, "X"));
export const spareCourses: readonly Course[] = Array.from({ length: spares }, (_, index) => courseAt(index, "Y"));
export const spareEnrolments: readonly Enrolment[] = spareStudents.flatMap((student) =>
  spareCourses.map((course) => enrolmentOf(student, course)),
);

/** Students that the put call writes over and over. */
export const putStudents: readonly Student[] = Array.from({ length: people }, (_, index) => studentAt(index, "P"));
