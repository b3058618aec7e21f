import { useRef, useState } from "react";

/**
 * Nothing moves under the reader: while `held`, the value of the moment it began is returned. Counts beside it go on.
 */
export function useHeld<T>(value: T, held: boolean): T {
  const [frozen, setFrozen] = useState<{ value: T } | null>(null);
  if (held && frozen === null) {
    setFrozen({ value });
    return value;
  }
  if (!held && frozen !== null) setFrozen(null);
  return held && frozen !== null ? frozen.value : value;
}

/** Whether the pointer or the focus is inside; the handlers belong on the list. */
export function useInside(): [
  boolean,
  { onMouseEnter: () => void; onMouseLeave: () => void; onFocus: () => void; onBlur: () => void },
] {
  const [inside, setInside] = useState(0);
  const bits = useRef(0);
  const set = (bit: number, on: boolean) => {
    bits.current = on ? bits.current | bit : bits.current & ~bit;
    setInside(bits.current);
  };
  return [
    inside !== 0,
    {
      onMouseEnter: () => set(1, true),
      onMouseLeave: () => set(1, false),
      onFocus: () => set(2, true),
      onBlur: () => set(2, false),
    },
  ];
}
