import { defineGraph, node } from "edgetable";
import { z } from "zod";
import type { Design } from "./describe-design.ts";

const text = z.string();
const optional = text.optional();
const author = { authorFirstName: text, authorLastName: text };

const indexOf = (number: number) => ({ partitionKey: `gsi${number}pk`, sortKey: `gsi${number}sk` });
const works = "$library#authorlastname_{authorLastName:lower}#authorfirstname_{authorFirstName:lower}";
const titles = "$library#booktitle_{bookTitle:lower}";

const graph = (table: string) =>
  defineGraph({
    table,
    nodes: {
      author: node({
        key: "$library#authorlastname_{authorLastName:lower}#{authorFirstName:lower}#{birthday:lower}",
        schema: z.object({ ...author, birthday: text, bio: text, genres: z.set(text).optional() }),
      }),
      member: node({
        key: "$library#memberid_{memberId:lower}",
        schema: z.object({
          memberId: text,
          membershipStartDate: optional,
          address: z.object({ city: optional, zip: optional }).optional(),
        }),
      }),
      book: node({
        key: "$library#isbn_{isbn:lower}#{bookId:lower}",
        schema: z.object({
          ...author,
          isbn: text,
          bookId: text,
          bookTitle: text,
          releaseDate: text,
          loanEndDate: optional,
          memberId: optional,
        }),
      }),
      genre: node({
        key: "$library#isbn_{isbn:lower}#{genre:lower}#{subgenre:lower}",
        schema: z.object({ ...author, isbn: text, genre: text, subgenre: text, bookId: text, bookTitle: text }),
      }),
    },
    layout: {
      partitionKey: "pk",
      sortKey: "sk",
      typeAttribute: "__edb_e__",
      indexes: { "gsi1pk-gsi1sk-index": indexOf(1), "gsi2pk-gsi2sk-index": indexOf(2), "gsi3pk-gsi3sk-index": indexOf(3) },
      nodes: {
        author: {
          keys: {
            pk: "$library#authorlastname_{authorLastName:lower}",
            sk: "$author_1#authorfirstname_{authorFirstName:lower}#birthday_{birthday:lower}",
            gsi2pk: works,
            gsi2sk: "$works#author_1",
            __edb_v__: "1",
          },
        },
        member: { keys: { sk: "$member_1", gsi1pk: "{key}", gsi1sk: "$account#member_1", __edb_v__: "1" } },
        book: {
          keys: {
            pk: "$library#isbn_{isbn:lower}",
            sk: "$detail#book_1#bookid_{bookId:lower}",
            // In the index with a member, or with the end of a loan: a copy that is there to lend has the latter alone.
            gsi1pk: "$library#memberid_{memberId?:lower}",
            gsi1sk: "$account#book_1#loanenddate_{loanEndDate?:lower}",
            gsi2pk: works,
            gsi2sk: "$works#book_1#loanenddate_{loanEndDate?:lower}",
            gsi3pk: titles,
            gsi3sk: "$titles#book_1#releasedate_{releaseDate:lower}",
            __edb_v__: "1",
          },
          sparse: ["gsi1pk", "gsi1sk"],
        },
        genre: {
          keys: {
            pk: "$library#isbn_{isbn:lower}",
            sk: "$detail#genre_1#genre_{genre:lower}#subgenre_{subgenre:lower}",
            gsi1pk: "$library#genre_{genre:lower}",
            gsi1sk: "$genre_1#subgenre_{subgenre:lower}",
            gsi2pk: works,
            gsi2sk: "$works#genre_1#genre_{genre:lower}#subgenre_{subgenre:lower}",
            gsi3pk: titles,
            gsi3sk: "$titles#genre_1#genre_{genre:lower}#subgenre_{subgenre:lower}",
            __edb_v__: "1",
          },
        },
      },
    },
  });

type Db = ReturnType<ReturnType<typeof graph>["connect"]>;

const berg = { authorFirstName: "Ida", authorLastName: "Berg" };
const idaBerg = { ...berg, birthday: "Mon Oct 21 1929", bio: "b", genres: new Set(["sf"]) };
const idaBergItem = {
  ...idaBerg,
  pk: "$library#authorlastname_berg",
  sk: "$author_1#authorfirstname_ida#birthday_mon oct 21 1929",
  gsi2pk: "$library#authorlastname_berg#authorfirstname_ida",
  gsi2sk: "$works#author_1",
  __edb_e__: "author",
  __edb_v__: "1",
};
const member = { memberId: "M-1", membershipStartDate: "2024", address: { city: "Oslo" } };
const memberItem = {
  ...member,
  pk: "$library#memberid_m-1",
  sk: "$member_1",
  gsi1pk: "$library#memberid_m-1",
  gsi1sk: "$account#member_1",
  __edb_e__: "member",
  __edb_v__: "1",
};
const copyOf = (bookId: string, loan: { readonly memberId?: string; readonly loanEndDate?: string } = {}) => ({
  ...berg,
  isbn: "I-1",
  bookId,
  bookTitle: "The Fjord",
  releaseDate: "1974",
  ...loan,
});
const copyItem = (row: ReturnType<typeof copyOf>, gsi1?: readonly [pk: string, sk: string]) => ({
  ...row,
  pk: "$library#isbn_i-1",
  sk: `$detail#book_1#bookid_${row.bookId.toLowerCase()}`,
  ...(gsi1 ? { gsi1pk: gsi1[0], gsi1sk: gsi1[1] } : {}),
  gsi2pk: "$library#authorlastname_berg#authorfirstname_ida",
  gsi2sk: `$works#book_1#loanenddate_${row.loanEndDate?.toLowerCase() ?? ""}`,
  gsi3pk: "$library#booktitle_the fjord",
  gsi3sk: "$titles#book_1#releasedate_1974",
  __edb_e__: "book",
  __edb_v__: "1",
});
const lent = copyOf("B1", { memberId: "M-1", loanEndDate: "2024-02-01" });
const there = copyOf("B2", { loanEndDate: "AVAILABLE" });
const fresh = copyOf("B3");
const utopia = { ...berg, isbn: "I-1", genre: "Sci-Fi", subgenre: "Utopia", bookId: "B1", bookTitle: "The Fjord" };
const utopiaItem = {
  ...utopia,
  pk: "$library#isbn_i-1",
  sk: "$detail#genre_1#genre_sci-fi#subgenre_utopia",
  gsi1pk: "$library#genre_sci-fi",
  gsi1sk: "$genre_1#subgenre_utopia",
  gsi2pk: "$library#authorlastname_berg#authorfirstname_ida",
  gsi2sk: "$works#genre_1#genre_sci-fi#subgenre_utopia",
  gsi3pk: "$library#booktitle_the fjord",
  gsi3sk: "$titles#genre_1#genre_sci-fi#subgenre_utopia",
  __edb_e__: "genre",
  __edb_v__: "1",
};

export const library: Design<Db> = {
  name: "library",
  source: "ElectroDB (Tyler W. Walch), example library: github.com/tywalch/electrodb, examples/library",
  table: {
    key: ["pk", "sk"],
    indexes: {
      "gsi1pk-gsi1sk-index": { key: ["gsi1pk", "gsi1sk"] },
      "gsi2pk-gsi2sk-index": { key: ["gsi2pk", "gsi2sk"] },
      "gsi3pk-gsi3sk-index": { key: ["gsi3pk", "gsi3sk"] },
    },
  },
  graph,
  items: [
    idaBergItem,
    memberItem,
    copyItem(lent, ["$library#memberid_m-1", "$account#book_1#loanenddate_2024-02-01"]),
    copyItem(there, ["$library#memberid_", "$account#book_1#loanenddate_available"]),
    copyItem(fresh),
    utopiaItem,
  ],
  patterns: [
    {
      question: "Author.query.writer, by a part of the first name",
      ask: (db) =>
        db
          .find("author")
          .where({ authorLastName: "Berg", authorFirstName: { beginsWith: "I" } })
          .rows(),
      answer: [idaBerg],
      requests: [
        "Query: pk = '$library#authorlastname_berg' AND begins_with(sk, '$author_1#authorfirstname_i') (filter authorLastName = 'Berg' AND begins_with(authorFirstName, 'I'))",
      ],
    },
    {
      question: "Book.query.copies",
      ask: (db) => db.find("book").where({ isbn: "I-1" }).rows(),
      answer: [lent, there, fresh],
      requests: ["Query: pk = '$library#isbn_i-1' AND begins_with(sk, '$detail#book_1#bookid_') (filter isbn = 'I-1')"],
    },
    {
      question: "Book.query.loans",
      ask: (db) => db.find("book").where({ memberId: "M-1" }).rows(),
      answer: [lent],
      requests: [
        "Query gsi1pk-gsi1sk-index: gsi1pk = '$library#memberid_m-1' AND begins_with(gsi1sk, '$account#book_1#loanenddate_') (filter memberId = 'M-1')",
      ],
    },
    {
      question: "the collection account: a member and their loans",
      ask: (db) => db.find(["member", "book"]).where({ memberId: "M-1" }).using("gsi1pk-gsi1sk-index").rows(),
      answer: [
        { kind: "book", row: lent },
        { kind: "member", row: member },
      ],
      requests: [
        "Query gsi1pk-gsi1sk-index: gsi1pk = '$library#memberid_m-1' AND begins_with(gsi1sk, '$account#') (filter memberId = 'M-1')",
      ],
    },
    {
      question: "the collection titles: copies and genres of a title",
      ask: (db) => db.find(["book", "genre"]).where({ bookTitle: "The Fjord" }).rows(),
      answer: [
        { kind: "book", row: lent },
        { kind: "book", row: there },
        { kind: "book", row: fresh },
        { kind: "genre", row: utopia },
      ],
      requests: [
        "Query gsi3pk-gsi3sk-index: gsi3pk = '$library#booktitle_the fjord' AND begins_with(gsi3sk, '$titles#') (filter bookTitle = 'The Fjord')",
      ],
      anyOrder: true,
    },
  ],
  writes: [
    {
      what: "Book.patch: a copy is lent",
      call: (db) => db.book.update({ isbn: "I-1", bookId: "B3" }, { memberId: "M-1", loanEndDate: "2024-03-01" }).orThrow(),
      puts: [
        copyItem(copyOf("B3", { memberId: "M-1", loanEndDate: "2024-03-01" }), [
          "$library#memberid_m-1",
          "$account#book_1#loanenddate_2024-03-01",
        ]),
      ],
    },
    {
      what: "Book.put: a new copy",
      call: (db) => db.book.put(copyOf("B4")).orThrow(),
      puts: [copyItem(copyOf("B4"))],
    },
  ],
};
