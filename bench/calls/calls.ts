/** The students-and-courses system that every candidate implements, each in its own words. */

export interface Student {
  readonly studentId: string;
  readonly name: string;
  readonly email: string;
  readonly yearLevel: number;
  readonly major: string;
  readonly city: string;
  readonly country: string;
  readonly gpa: number;
  readonly active: boolean;
  readonly tags: readonly string[];
}
export interface Course {
  readonly courseId: string;
  readonly name: string;
  readonly professor: string;
  readonly credits: number;
  readonly department: string;
  readonly room: string;
  readonly capacity: number;
  readonly language: string;
  readonly level: string;
  readonly open: boolean;
}
export interface Enrolment {
  readonly studentId: string;
  readonly courseId: string;
  readonly enrolledAt: string;
  readonly grade: string;
  readonly status: string;
  readonly credits: number;
  readonly term: string;
  readonly note: string;
}
/** An edge as a graph library gives it: the ids of its ends apart from its attributes. */
export type EnrolmentEdge = Omit<Enrolment, "studentId" | "courseId"> & {
  readonly from: Pick<Enrolment, "studentId">;
  readonly to: Pick<Enrolment, "courseId">;
};
/** Rows come in each candidate's own form; a conversion nobody would write is not measured. */
export type EnrolmentRow = Enrolment | EnrolmentEdge;
export interface EnrolmentWithCourse {
  readonly edge: EnrolmentRow;
  readonly node: Course | undefined;
}

/** The eight calls, and the two that load the data. */
export interface Calls<Edge extends EnrolmentRow = EnrolmentRow> {
  putStudent(student: Student): Promise<unknown>;
  /** A transaction: puts the edge and checks that both nodes exist; rejects when one does not. */
  enrol(enrolment: Enrolment): Promise<unknown>;
  getStudent(studentId: string): Promise<Student | undefined>;
  coursesOf(studentId: string): Promise<readonly Edge[]>;
  /** Through the index GSI1. */
  studentsOf(courseId: string): Promise<readonly Edge[]>;
  setGrade(studentId: string, courseId: string, grade: string): Promise<unknown>;
  withdraw(studentId: string, courseId: string): Promise<unknown>;
  /** The list of `coursesOf`, each with its course: one Query and one BatchGetItem, in the list's order. */
  coursesWithNodes(studentId: string): Promise<readonly EnrolmentWithCourse[]>;
  putCourse(course: Course): Promise<unknown>;
  /** At most 25 edges in one BatchWriteItem, unchecked; absent where a client has no such call. */
  readonly putEnrolments?: (enrolments: readonly Enrolment[]) => Promise<unknown>;
  close(): void | Promise<void>;
}

/** Where the lowest send that a candidate lets others replace can be watched or answered in its place. */
export type Tap = <Request, Answer>(send: (request: Request) => Promise<Answer>) => (request: Request) => Promise<Answer>;

export interface Place {
  readonly endpoint: string;
  readonly table: string;
  readonly tap?: Tap;
}

/** What a candidate's file exports as `connect`. */
export type Connect = (place: Place) => Calls | Promise<Calls>;

export const callNames = ["put", "enrol", "get", "list", "listByIndex", "update", "delete", "hydrate"] as const;
export type CallName = (typeof callNames)[number];
