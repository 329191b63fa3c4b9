import type { Course, Enrolment, Student } from "../../calls.ts";

// JSON.stringify of a short string that needs no escape is as quick as any test for it.
const text = JSON.stringify;
const studentKeyText = (id: string): string => text(`STUDENT#${id}`);
const courseKeyText = (id: string): string => text(`COURSE#${id}`);

export const studentKey = (id: string): string => `{"PK":{"S":${studentKeyText(id)}},"SK":{"S":${studentKeyText(id)}}}`;
export const courseKey = (id: string): string => `{"PK":{"S":${courseKeyText(id)}},"SK":{"S":${courseKeyText(id)}}}`;
export const edgeKey = (studentId: string, courseId: string): string =>
  `{"PK":{"S":${studentKeyText(studentId)}},"SK":{"S":${courseKeyText(courseId)}}}`;

export const studentItem = (row: Student): string =>
  `{"PK":{"S":${studentKeyText(row.studentId)}},"SK":{"S":${studentKeyText(row.studentId)}},"studentId":{"S":${text(row.studentId)}},"name":{"S":${text(row.name)}},"email":{"S":${text(row.email)}},"yearLevel":{"N":"${row.yearLevel}"},"major":{"S":${text(row.major)}},"city":{"S":${text(row.city)}},"country":{"S":${text(row.country)}},"gpa":{"N":"${row.gpa}"},"active":{"BOOL":${row.active}},"tags":{"L":[${row.tags.map((tag) => `{"S":${text(tag)}}`).join(",")}]}}`;

export const courseItem = (row: Course): string =>
  `{"PK":{"S":${courseKeyText(row.courseId)}},"SK":{"S":${courseKeyText(row.courseId)}},"courseId":{"S":${text(row.courseId)}},"name":{"S":${text(row.name)}},"professor":{"S":${text(row.professor)}},"credits":{"N":"${row.credits}"},"department":{"S":${text(row.department)}},"room":{"S":${text(row.room)}},"capacity":{"N":"${row.capacity}"},"language":{"S":${text(row.language)}},"level":{"S":${text(row.level)}},"open":{"BOOL":${row.open}}}`;

export const enrolmentItem = (row: Enrolment): string => {
  const student = studentKeyText(row.studentId);
  const course = courseKeyText(row.courseId);
  return `{"PK":{"S":${student}},"SK":{"S":${course}},"GSI1PK":{"S":${course}},"GSI1SK":{"S":${student}},"studentId":{"S":${text(row.studentId)}},"courseId":{"S":${text(row.courseId)}},"enrolledAt":{"S":${text(row.enrolledAt)}},"grade":{"S":${text(row.grade)}},"status":{"S":${text(row.status)}},"credits":{"N":"${row.credits}"},"term":{"S":${text(row.term)}},"note":{"S":${text(row.note)}}}`;
};

interface TextValue {
  readonly S: string;
}
interface NumberValue {
  readonly N: string;
}
interface BooleanValue {
  readonly BOOL: boolean;
}
type Wire<Row> = {
  readonly [Name in keyof Row]: Row[Name] extends string
    ? TextValue
    : Row[Name] extends number
      ? NumberValue
      : Row[Name] extends boolean
        ? BooleanValue
        : { readonly L: readonly TextValue[] };
};
export type StudentItem = Wire<Student>;
export type CourseItem = Wire<Course>;
export type EnrolmentItem = Wire<Enrolment>;

export const studentOf = (item: StudentItem): Student => ({
  studentId: item.studentId.S,
  name: item.name.S,
  email: item.email.S,
  yearLevel: Number(item.yearLevel.N),
  major: item.major.S,
  city: item.city.S,
  country: item.country.S,
  gpa: Number(item.gpa.N),
  active: item.active.BOOL,
  tags: item.tags.L.map((tag) => tag.S),
});

export const courseOf = (item: CourseItem): Course => ({
  courseId: item.courseId.S,
  name: item.name.S,
  professor: item.professor.S,
  credits: Number(item.credits.N),
  department: item.department.S,
  room: item.room.S,
  capacity: Number(item.capacity.N),
  language: item.language.S,
  level: item.level.S,
  open: item.open.BOOL,
});

export const enrolmentOf = (item: EnrolmentItem): Enrolment => ({
  studentId: item.studentId.S,
  courseId: item.courseId.S,
  enrolledAt: item.enrolledAt.S,
  grade: item.grade.S,
  status: item.status.S,
  credits: Number(item.credits.N),
  term: item.term.S,
  note: item.note.S,
});
