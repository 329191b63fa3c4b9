import type { Socket } from "node:net";
import type { AttemptFailure } from "../attempt-error.ts";
import type { Exchange } from "./exchange.ts";
import { ProtocolError } from "./response-head.ts";
import { ResponseReader } from "./response-reader.ts";
import type { Answer } from "./response-reader.ts";

/** Opens a socket that reads into one buffer of its own. */
export interface Dialer {
  /** The event that tells that requests may go out. */
  readonly readyEvent: "connect" | "secureConnect";
  dial(onRead: (count: number, packet: Uint8Array) => boolean): Socket;
}

/** What a connection tells its pool. */
export interface ConnectionOwner {
  /** The head of the request, signed now. */
  readonly sign: (exchange: Exchange) => string;
  /** The connection can carry another request. */
  readonly idle: (connection: Connection) => void;
  /** The connection is gone; an exchange that it leaves behind may go out again on another. */
  readonly closed: (connection: Connection, unanswered: Exchange | undefined) => void;
}

const failureOf = (cause: unknown, written: boolean): AttemptFailure => {
  const error = cause as { readonly code?: string; readonly message?: string; readonly errors?: readonly Error[] } | undefined;
  const reason = error?.message || error?.errors?.[0]?.message || error?.code || "the connection was closed before the answer was complete";
  return { code: error?.code === "CONNECT_TIMEOUT" ? "execute.timeout" : "execute.connection", message: reason, ambiguous: written, cause };
};

/** One socket, which carries one exchange at a time. */
export class Connection {
  /** When it last became idle, in the pool's time. */
  idleSince = 0;
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  readonly #reader = new ResponseReader();
  #exchange: Exchange | undefined;
  #ready = false;
  #served = 0;
  #cause: unknown;

  constructor(dialer: Dialer, owner: ConnectionOwner, connectTimeout: number) {
    this.#owner = owner;
    this.#socket = dialer.dial((count, packet) => this.#read(count, packet as Buffer));
    const timer = setTimeout(
      () => this.#giveUp(Object.assign(new Error(`not connected within ${connectTimeout} ms`), { code: "CONNECT_TIMEOUT" })),
      connectTimeout,
    );
    this.#socket.once(dialer.readyEvent, () => {
      clearTimeout(timer);
      this.#becomeReady();
    });
    this.#socket.on("error", (error) => (this.#cause ??= error));
    this.#socket.on("end", () => this.#end());
    this.#socket.on("close", () => {
      clearTimeout(timer);
      this.#close();
    });
  }

  /** False from when the socket ends until the owner is told. */
  get usable(): boolean {
    return !this.#socket.destroyed;
  }

  /** Carries an exchange, at once or as soon as the socket is ready. */
  carry(exchange: Exchange): void {
    this.#exchange = exchange;
    exchange.connection = this;
    if (this.#ready) this.#write(exchange);
  }

  destroy(): void {
    this.#exchange = undefined;
    this.#socket.destroy();
  }

  #becomeReady(): void {
    this.#ready = true;
    // An idle pool does not keep the process alive; the timer of an exchange does.
    this.#socket.unref();
    if (this.#exchange !== undefined) this.#write(this.#exchange);
  }

  #write(exchange: Exchange): void {
    let text: string;
    try {
      exchange.guard?.();
      text = this.#owner.sign(exchange) + exchange.body;
    } catch (error) {
      exchange.reject(error);
      return;
    }
    exchange.written = true;
    this.#socket.write(text, "utf8");
  }

  #read(count: number, packet: Buffer): boolean {
    try {
      const answer = this.#reader.take(packet, count);
      if (answer !== undefined) this.#answered(answer);
    } catch (error) {
      this.#giveUp(error);
    }
    return true;
  }

  #answered(answer: Answer): void {
    const exchange = this.#exchange;
    // Nobody asked: whatever this is, it must not be taken for the next answer.
    if (exchange === undefined) return this.destroy();
    this.#exchange = undefined;
    exchange.connection = undefined;
    this.#served++;
    if (answer.head.keepAlive && this.#socket.writableLength === 0) this.#owner.idle(this);
    else this.#socket.destroy();
    exchange.answer(answer);
  }

  #end(): void {
    try {
      const answer = this.#reader.end();
      if (answer !== undefined) this.#answered(answer);
    } catch (error) {
      this.#cause ??= error;
    }
    this.#socket.destroy();
  }

  #giveUp(cause: unknown): void {
    this.#cause ??= cause;
    this.#socket.destroy();
  }

  #close(): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    // A reused socket that ends without a byte was most likely closed while the request was on its way.
    const stale =
      exchange !== undefined && exchange.written && this.#served > 0 && !this.#reader.partial && !(this.#cause instanceof ProtocolError);
    this.#owner.closed(this, stale ? exchange : undefined);
    if (exchange?.connection !== this) return;
    exchange.connection = undefined;
    exchange.fail(failureOf(this.#cause, exchange.written));
  }
}
