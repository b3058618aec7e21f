/**
 * A card that changes its queue slides there: the old place is remembered before the update, and a copy travels to the new
 * one. At most twelve at once; at more than 200 changes a second, with reduced motion, and on phones nothing travels.
 */
import { type RefObject, useLayoutEffect, useRef } from "react";

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
  const copy = card.cloneNode(true) as HTMLElement;
  copy.setAttribute("aria-hidden", "true");
  copy.removeAttribute("data-card");
  Object.assign(copy.style, {
    position: "fixed", left: `${to.left}px`, top: `${to.top}px`, width: `${to.width}px`, height: `${to.height}px`, zIndex: "15", pointerEvents: "none",
  });
  document.body.append(copy);
  card.style.visibility = "hidden";
  const travel = copy.animate(
    [{ transform: `translate(${from.x - to.left}px, ${from.y - to.top}px)` }, { transform: "none" }], { duration: DURATION, easing: EASE },
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
    if (element === null) return;
    const still = matchMedia("(prefers-reduced-motion: reduce), (max-width: 640px)").matches || (rate ?? 0) > CALM || document.hidden;
    if (still) {
      before.current = new Map();
      return;
    }
    const after = placesIn(element);
    const moved = [...after].filter(([key, place]) => {
      const old = before.current.get(key);
      return old !== undefined && old.column !== place.column;
    });
    if (moved.length <= MOST) {
      for (const [key] of moved) {
        const card = element.querySelector<HTMLElement>(`[data-card="${CSS.escape(key)}"]`);
        const from = before.current.get(key);
        if (card !== null && from !== undefined) fly(card, from);
      }
    }
    before.current = after;
  }, [board, seq, rate]);
}
