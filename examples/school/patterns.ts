import { definePatterns } from "edgetable";
import { school } from "./model.ts";

/** What the four rows can be asked; the notes that publish them list rows only. */
export const patterns = definePatterns(school, {
  studentAndEverything: {
    question: "What is known of a student?",
    example: { studentId: "TOM" },
    ask: (db, id) => db.student(id).collection(),
  },
  classesOfStudent: {
    question: "Which classes does a student take?",
    example: { studentId: "TOM" },
    ask: (db, id) => db.student(id).out("takes").edges(),
  },
  classesWithTeacher: {
    question: "Which of a student's classes does one teacher give?",
    example: { studentId: "TOM", teacherId: "SIMON" },
    ask: (db, { studentId, teacherId }) => db.student({ studentId }).out("takes").where({ to: { teacherId } }).edges(),
  },
  homeInCountry: {
    question: "Does a student live in a country, and where?",
    example: { studentId: "TOM", country: "USA" },
    ask: (db, { studentId, ...place }) => db.student({ studentId }).out("livesIn").where({ to: place }).ids(),
  },
  homeInState: {
    question: "Does a student live in a state, and where?",
    example: { studentId: "TOM", country: "USA", state: "CA" },
    ask: (db, { studentId, ...place }) => db.student({ studentId }).out("livesIn").where({ to: place }).ids(),
  },
  homeInCity: {
    question: "Does a student live in a city?",
    example: { studentId: "TOM", country: "USA", state: "CA", city: "LOS_ANGELES" },
    ask: (db, { studentId, ...place }) => db.student({ studentId }).out("livesIn").where({ to: place }).ids(),
  },
  studentsOfTeacher: {
    question: "Which students does a teacher have?",
    example: { teacherId: "SIMON" },
    ask: (db, id) => db.teacher(id).in("takes").entries(),
  },
  studentsOfClass: {
    question: "Which students does a teacher have in one class?",
    example: { teacherId: "SIMON", class: "MATH" },
    ask: (db, { teacherId, ...taken }) => db.teacher({ teacherId }).in("takes").where(taken).edges(),
  },
  residentsOfCountry: {
    question: "Who lives in a country?",
    example: { country: "USA" },
    ask: (db, country) => db.home.within(country).in("livesIn").edges(),
  },
  residentsOfState: {
    question: "Who lives in a state?",
    example: { country: "USA", state: "CA" },
    ask: (db, state) => db.home.within(state).in("livesIn").edges(),
  },
  residentsOfCity: {
    question: "Who lives in a city?",
    example: { country: "USA", state: "CA", city: "LOS_ANGELES" },
    ask: (db, city) => db.home(city).in("livesIn").nodes(),
  },
  studentInIndex: {
    question: "What does the index hold of a student?",
    example: { studentId: "TOM" },
    ask: (db, id) => db.student(id).incoming(),
  },
  student: {
    question: "What is a student called?",
    example: { studentId: "TOM" },
    ask: (db, id) => db.student.get(id),
  },
});
