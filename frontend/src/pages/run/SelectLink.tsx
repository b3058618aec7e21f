/**
 * A link that selects a pod or a node of the run on screen. The router's own links ask for their address anew with every
 * change of it, each for itself; a board holds a hundred that differ in nothing but what they select. These keep
 * theirs until something else in the query string changes, so a click makes only the cards it is about anew.
 */
import { defaultStringifySearch, useNavigate, useRouter } from "@tanstack/react-router";
import { type AnchorHTMLAttributes, type KeyboardEvent, type MouseEvent, use } from "react";

import { BoardAddressContext } from "./boardAddress";

/** What a click selects; `null` is no longer selected, what is left out stays as it is. */
export interface Selected {
  pod?: string | null;
  node?: string | null;
}

type SelectLinkProps = Selected & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, "href" | "onClick">;

export function SelectLink({ pod, node, children, ...rest }: SelectLinkProps) {
  const { pathname, search } = use(BoardAddressContext);
  const navigate = useNavigate({ from: "/runs/$run" });
  const router = useRouter();
  const chosen = { pod: pod ?? undefined, node: node ?? undefined };
  const select = (event: MouseEvent<HTMLAnchorElement>) => {
    if (event.button !== 0 || event.metaKey || event.altKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    void navigate({
      search: (old) => ({
        ...old,
        ...(pod === undefined ? {} : { pod: chosen.pod }),
        ...(node === undefined ? {} : { node: chosen.node }),
      }),
      replace: true,
      resetScroll: false,
    });
  };
  /** On the card of the selected pod Enter opens its page, as the inspector's button says; a click or Esc ends the selection. A node's name selects the node. */
  const open = (event: KeyboardEvent<HTMLAnchorElement>) => {
    const { pod: selected } = router.state.location.search;
    const [namespace, name] = typeof selected === "string" ? selected.split("/") : [];
    if (
      event.key !== "Enter" ||
      pod !== null ||
      typeof node === "string" ||
      namespace === undefined ||
      name === undefined
    )
      return;
    event.preventDefault();
    void navigate({
      to: "/runs/$run/pods/$namespace/$name",
      params: (old) => ({ ...old, namespace, name }),
      search: {},
    });
  };
  return (
    <a
      {...rest}
      onKeyDown={open}
      href={`${pathname}${defaultStringifySearch({ ...search, ...chosen })}`}
      onClick={select}
    >
      {children}
    </a>
  );
}
