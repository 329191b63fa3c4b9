import { defineGraph, edge, node } from "edgetable";
import { z } from "zod";
import type { Design } from "./describe-design.ts";

const text = z.string();
const place = { country: text, region: text, city: text, address: text };

// Orders and customers have bare ids in one key space: those of orders are digits, and those of customers letters. What a node is
// found by is its sort key: a name, a fixed word, the manager; `data` sorts.
const graph = (table: string) =>
  defineGraph({
    table,
    nodes: {
      category: node({ key: "categories#{categoryID}", schema: z.object({ categoryID: text, categoryName: text, description: text }) }),
      order: node({
        key: "{orderID:digits}",
        schema: z.object({ orderID: text, orderDate: text, customerID: text, employeeID: text, shipVia: text }),
      }),
      customer: node({ key: "{customerID:letters}", schema: z.object({ customerID: text, contactName: text, ...place, phone: text }) }),
      shipper: node({ key: "shippers#{shipperID}", schema: z.object({ shipperID: text, companyName: text, phone: text }) }),
      supplier: node({ key: "suppliers#{supplierID}", schema: z.object({ supplierID: text, companyName: text, ...place }) }),
      employee: node({
        key: "employees#{employeeID}",
        schema: z.object({ employeeID: text, reportsTo: text, hireDate: text, lastName: text }),
      }),
      product: node({
        key: "products#{productID}",
        schema: z.object({ productID: text, discontinued: text, productName: text, supplierID: text, categoryID: text, unitPrice: text }),
      }),
    },
    edges: {
      contains: edge({
        from: "order",
        to: "product",
        schema: z.object({ unitPrice: text, quantity: text, discount: text }),
        orderBy: "unitPrice",
        ends: "unchecked",
      }),
    },
    layout: {
      partitionKey: "pk",
      sortKey: "sk",
      indexes: { gsi_1: { partitionKey: "sk", sortKey: "data" } },
      nodes: {
        category: { keys: { sk: "{categoryName}", data: "{description}" } },
        customer: { keys: { sk: "{contactName}", data: "{country}#{region}#{city}#{address}" } },
        shipper: { keys: { sk: "{companyName}", data: "{phone}" } },
        supplier: { keys: { sk: "SUPPLIER", data: "{country}#{region}#{city}#{address}" } },
        employee: { keys: { sk: "{reportsTo}", data: "{hireDate}" }, delimiters: { sk: "|" } },
        order: { keys: { sk: "ORDER", data: "{orderDate}" } },
        product: { keys: { sk: "PRODUCT", data: "{discontinued}" } },
      },
      edges: { contains: { keys: { sk: "{to}", data: "{unitPrice}" } } },
    },
  });

const at = (day: number) => `2024-07-0${day} 00:00:00.000`;
const where = { country: "Norway", region: "NULL", city: "Bergen", address: "Pier 4" };
const data = "Norway#NULL#Bergen#Pier 4";

const category = { categoryID: "1", categoryName: "Cheese", description: "Hard and soft" };
const customer = { customerID: "NORTH", contactName: "Liv Dahl", ...where, phone: "55-1" };
const shipper = { shipperID: "2", companyName: "Fast Ferry", phone: "55-2" };
const supplier = { supplierID: "3", companyName: "Fjord Farm", ...where };
const boss = { employeeID: "2", reportsTo: "NULL", hireDate: at(1), lastName: "Moe" };
const clerk = { employeeID: "5", reportsTo: "employees#2", hireDate: at(2), lastName: "Ek" };
const order = (orderID: string, day: number) => ({
  orderID,
  orderDate: at(day),
  customerID: "NORTH",
  employeeID: "employees#5",
  shipVia: "shippers#2",
});
const product = (productID: string, discontinued: string) => ({
  productID,
  discontinued,
  productName: `Cheese ${productID}`,
  supplierID: "suppliers#3",
  categoryID: "categories#1",
  unitPrice: "14.00",
});
const line = (orderID: string, productID: string) => ({
  from: { orderID },
  to: { productID },
  unitPrice: "14.00",
  quantity: "12",
  discount: "0",
});

const employeeItem = ({ employeeID, reportsTo, hireDate, lastName }: typeof boss) => ({
  pk: `employees#${employeeID}`,
  sk: reportsTo,
  data: hireDate,
  lastName,
});
const orderItem = ({ orderID, orderDate, ...rest }: ReturnType<typeof order>) => ({ pk: orderID, sk: "ORDER", data: orderDate, ...rest });
const productItem = ({ productID, discontinued, ...rest }: ReturnType<typeof product>) => ({
  pk: `products#${productID}`,
  sk: "PRODUCT",
  data: discontinued,
  ...rest,
});
const lineItem = (orderID: string, productID: string) => ({
  pk: orderID,
  sk: `products#${productID}`,
  data: "14.00",
  quantity: "12",
  discount: "0",
});

type Db = ReturnType<ReturnType<typeof graph>["connect"]>;

export const northwind: Design<Db> = {
  name: "northwind",
  source: "Trek10 (Forrest Brazeal), From relational DB to single DynamoDB table: github.com/trek10inc/ddb-single-table-example",
  table: { key: ["pk", "sk"], indexes: { gsi_1: { key: ["sk", "data"] } } },
  graph,
  items: [
    { pk: "categories#1", sk: "Cheese", data: "Hard and soft" },
    { pk: "NORTH", sk: "Liv Dahl", data, phone: "55-1" },
    { pk: "shippers#2", sk: "Fast Ferry", data: "55-2" },
    { pk: "suppliers#3", sk: "SUPPLIER", data, companyName: "Fjord Farm" },
    employeeItem(boss),
    employeeItem(clerk),
    orderItem(order("10248", 4)),
    orderItem(order("10249", 5)),
    productItem(product("11", "0")),
    productItem(product("42", "1")),
    lineItem("10248", "11"),
    lineItem("10248", "42"),
    lineItem("10249", "42"),
  ],
  patterns: [
    {
      question: "a. Get employee by employee ID",
      ask: (db) => db.employee.get({ employeeID: "5" }),
      answer: clerk,
      requests: ["Query: pk = 'employees#5'"],
    },
    {
      question: "b. Get direct reports for an employee",
      ask: (db) => db.find("employee").where({ reportsTo: "employees#2" }).rows(),
      answer: [clerk],
      requests: ["Query gsi_1: sk = 'employees#2'"],
    },
    {
      question: "c. Get discontinued products",
      ask: (db) => db.find("product").where({ discontinued: "1" }).rows(),
      answer: [product("42", "1")],
      requests: ["Query gsi_1: sk = 'PRODUCT' AND data = '1'"],
    },
    {
      question: "d. List all orders of a given product",
      ask: (db) => db.product({ productID: "42" }).in("contains").edges(),
      answer: [line("10248", "42"), line("10249", "42")],
      requests: ["Query gsi_1: sk = 'products#42'"],
      anyOrder: true,
    },
    {
      question: "e. Get the most recent 25 orders",
      ask: (db) => db.find("order").using("gsi_1").reverse().limit(25).rows(),
      answer: [order("10249", 5), order("10248", 4)],
      // A customer may be called "ORDER" too: rows are checked in memory, and more than 25 are read.
      requests: ["Query gsi_1: sk = 'ORDER' (descending, limit 50)"],
    },
    {
      question: "f. Get shippers by name",
      ask: (db) => db.find("shipper").where({ companyName: "Fast Ferry" }).rows(),
      answer: [shipper],
      requests: ["Query gsi_1: sk = 'Fast Ferry'"],
    },
    {
      question: "g. Get customers by contact name",
      ask: (db) => db.find("customer").where({ contactName: "Liv Dahl" }).rows(),
      answer: [customer],
      requests: ["Query gsi_1: sk = 'Liv Dahl'"],
    },
    {
      question: "h. List all products included in an order",
      ask: (db) => db.order({ orderID: "10248" }).out("contains").unordered().edges(),
      answer: [line("10248", "11"), line("10248", "42")],
      requests: ["Query: pk = '10248' AND begins_with(sk, 'products#')"],
    },
    {
      question: "i. Get suppliers by country and region",
      ask: (db) => db.find("supplier").where({ country: "Norway", region: "NULL" }).rows(),
      answer: [supplier],
      requests: ["Query gsi_1: sk = 'SUPPLIER' AND begins_with(data, 'Norway#NULL#')"],
    },
  ],
  writes: [
    {
      what: "a category",
      call: (db) => db.category.put({ ...category, categoryID: "9" }).orThrow(),
      puts: [{ pk: "categories#9", sk: "Cheese", data: "Hard and soft" }],
    },
    {
      what: "an order with two lines",
      call: (db) =>
        db.batch([
          db.order.put(order("10250", 6)),
          db.contains.put({ orderID: "10250" }, { productID: "11" }, { unitPrice: "14.00", quantity: "12", discount: "0" }),
        ]),
      puts: [orderItem(order("10250", 6)), lineItem("10250", "11")],
    },
    {
      what: "a product is discontinued",
      call: (db) => db.product.update({ productID: "11" }, { discontinued: "1" }).orThrow(),
      puts: [productItem(product("11", "1"))],
    },
    {
      what: "an employee gets another manager, which moves the item",
      call: (db) => db.employee.update({ employeeID: "5" }, { reportsTo: "employees#7" }).orThrow(),
      puts: [employeeItem({ ...clerk, reportsTo: "employees#7" })],
      deletes: [{ pk: "employees#5", sk: "employees#2" }],
    },
  ],
};
