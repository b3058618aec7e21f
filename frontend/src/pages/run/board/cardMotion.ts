/**
 * A card that changes its queue slides there: the old place is remembered from the picture before, and a copy travels to
 * the new one. At most twelve at once; at more than 200 changes a second, with reduced motion, and on phones nothing
 * travels. Places are looked up once the picture is out: before it, that would lay the page out once more than needed.
 */
import { type RefObject, useLayoutEffect, useRef } from "react";

import { afterPicture } from "@/components/afterPicture";

const MOST = 12;
const CALM = 200;
const DURATION = 320;
const EASE = "cubic-bezier(.2,.7,.2,1)";

interface Place {
  column: string;
  x: number;
  y: number;
}

function placesIn(board: HTMLElement): Map<string, Place> {
  const places = new Map<string, Place>();
  for (const column of board.querySelectorAll<HTMLElement>("[data-column]")) {
    const bounds = column.getBoundingClientRect();
    for (const card of column.querySelectorAll<HTMLElement>("[data-card]")) {
      const { left, top, bottom } = card.getBoundingClientRect();
      if (bottom < bounds.top || top > bounds.bottom) continue;
      places.set(card.dataset.card ?? "", { column: column.dataset.column ?? "", x: left, y: top });
    }
  }
  return places;
}

function fly(card: HTMLElement, from: Place): void {
  const to = card.getBoundingClientRect();
  const bounds = card.closest("[data-column]")?.getBoundingClientRect();
  if (bounds === undefined || to.bottom < bounds.top || to.top > bounds.bottom) return;
  const copy = card.cloneNode(true) as HTMLElement;
  copy.setAttribute("aria-hidden", "true");
  copy.removeAttribute("data-card");
  Object.assign(copy.style, {
    position: "fixed",
    left: `${to.left}px`,
    top: `${to.top}px`,
    width: `${to.width}px`,
    height: `${to.height}px`,
    zIndex: "15",
    pointerEvents: "none",
  });
  document.body.append(copy);
  card.style.visibility = "hidden";
  const travel = copy.animate(
    [{ transform: `translate(${from.x - to.left}px, ${from.y - to.top}px)` }, { transform: "none" }],
    { duration: DURATION, easing: EASE },
  );
  const arrive = () => {
    copy.remove();
    card.style.visibility = "";
  };
  travel.onfinish = arrive;
  travel.oncancel = arrive;
}

export function useCardMotion(board: RefObject<HTMLElement | null>, seq: number, rate: number | null): void {
  const before = useRef<Map<string, Place>>(new Map());
  useLayoutEffect(() => {
    const element = board.current;
    if (element === null) return undefined;
    const still =
      matchMedia("(prefers-reduced-motion: reduce), (max-width: 640px)").matches ||
      (rate ?? 0) > CALM ||
      document.hidden;
    if (still) {
      before.current = new Map();
      return undefined;
    }
    const moved = [...element.querySelectorAll<HTMLElement>("[data-card]")].flatMap((card) => {
      const from = before.current.get(card.dataset.card ?? "");
      const column = card.closest<HTMLElement>("[data-column]")?.dataset.column;
      return from === undefined || from.column === column ? [] : [{ card, from }];
    });
    if (moved.length <= MOST) for (const { card, from } of moved) fly(card, from);
    return afterPicture(() => {
      before.current = placesIn(element);
    });
  }, [board, seq, rate]);
}
