import { useSyncExternalStore, type MouseEvent } from "react";

/** The views, each with an address of its own. */
export const views = ["table", "rows", "graph", "patterns", "model", "live"] as const;
export type View = (typeof views)[number];

export type Query = Readonly<Record<string, string | undefined>>;

/** What the address says: everything that a reload must restore. */
export interface Route {
  readonly view: View;
  readonly query: Query;
}

const listeners = new Set<() => void>();
const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  addEventListener("popstate", listener);
  return () => {
    listeners.delete(listener);
    removeEventListener("popstate", listener);
  };
};

let known: { readonly href: string; readonly route: Route } | undefined;
const read = (): Route => {
  const { href, pathname, search } = location;
  if (known?.href === href) return known.route;
  const view = views.find((one) => `/${one}` === pathname) ?? "table";
  known = { href, route: { view, query: Object.fromEntries(new URLSearchParams(search)) } };
  return known.route;
};

/** The current route; the component renders again when it changes. */
export const useRoute = (): Route => useSyncExternalStore(subscribe, read);

/** The address of a view. Parameters that are undefined or empty are left out. */
export const addressOf = (view: View, query: Query = {}): string => {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== "");
  const search = new URLSearchParams(given).toString();
  return `/${view}${search === "" ? "" : `?${search}`}`;
};

/** Goes to an address. `replace` leaves no entry in the history, as for each letter of a filter. */
export const go = (address: string, { replace = false }: { readonly replace?: boolean } = {}): void => {
  if (address === `${location.pathname}${location.search}`) return;
  if (replace) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  for (const listener of listeners) listener();
};

/** The properties of a link that stays in the page, but opens in a tab as any link does. */
export const linkTo = (address: string): { readonly href: string; readonly onClick: (event: MouseEvent) => void } => ({
  href: address,
  onClick: (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0) return;
    event.preventDefault();
    go(address);
  },
});
