/** Line icons on a 16 px grid. Decorative: what an icon means is always written or named beside it. */
import type { ReactNode } from "react";

const filled = { fill: "currentColor" };

const PATHS = {
  gated: (
    <>
      <rect x="3.5" y="7" width="9" height="6.5" rx="1.5" />
      <path d="M5.5 7V5a2.5 2.5 0 0 1 5 0v2" />
    </>
  ),
  active: <path d="M3 4.5h6M3 8h10M3 11.5h8" />,
  backoff: (
    <>
      <circle cx="8" cy="8.5" r="5.3" />
      <path d="M8 5.6v3l2 1.4M6.2 1.4h3.6" />
    </>
  ),
  unschedulable: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="m4.2 4.2 7.6 7.6" />
    </>
  ),
  in_flight: <path d="M2.5 8h10M8.8 4.2 12.6 8l-3.8 3.8" />,
  waiting: (
    <path d="M5.2 8.6V4.2a1 1 0 0 1 2 0v3M7.2 7V3.2a1 1 0 0 1 2 0V7M9.2 7V4.2a1 1 0 0 1 2 0v5.2c0 2.5-1.4 4.1-3.7 4.1-1.9 0-2.8-.9-3.7-2.6L2.8 9c-.4-.9.7-1.5 1.3-.8l1.1 1.2" />
  ),
  bound: <path d="m3 8.6 3.2 3.2L13 4.8" />,
  search: (
    <>
      <circle cx="7" cy="7" r="4.2" />
      <path d="m10.2 10.2 3.3 3.3" />
    </>
  ),
  help: (
    <>
      <circle cx="8" cy="8" r="5.8" />
      <path d="M6.2 6.3a1.9 1.9 0 1 1 2.6 1.8c-.5.2-.8.6-.8 1.1v.3M8 11.4v.1" />
    </>
  ),
  sun: (
    <>
      <circle cx="8" cy="8" r="2.8" />
      <path d="M8 1.5v1.6M8 12.9v1.6M1.5 8h1.6M12.9 8h1.6M3.4 3.4l1.1 1.1M11.5 11.5l1.1 1.1M12.6 3.4l-1.1 1.1M4.5 11.5l-1.1 1.1" />
    </>
  ),
  moon: <path d="M13 9.6A5.6 5.6 0 0 1 6.4 3a5.6 5.6 0 1 0 6.6 6.6z" />,
  system: (
    <>
      <rect x="2.5" y="3" width="11" height="7.5" rx="1.3" />
      <path d="M6 13.2h4M8 10.5v2.7" />
    </>
  ),
  play: <path d="M5 3.2v9.6l7.6-4.8z" {...filled} strokeLinejoin="round" />,
  pause: <path d="M5.2 3.5v9M10.8 3.5v9" strokeWidth="2.2" />,
  cycle: (
    <>
      <path d="M3.5 3.5v9L10 8z" {...filled} strokeLinejoin="round" />
      <path d="M12.3 3.5v9" strokeWidth="1.8" />
    </>
  ),
  point: (
    <>
      <circle cx="3.2" cy="8" r="1.4" />
      <circle cx="8" cy="8" r="1.4" {...filled} />
      <circle cx="12.8" cy="8" r="1.4" />
      <path d="M8 5V2.2M6.7 3.7 8 5l1.3-1.3" />
    </>
  ),
  stop: <rect x="4" y="4" width="8" height="8" rx="1" {...filled} />,
  more: <path d="M3.5 8h.01M8 8h.01M12.5 8h.01" strokeWidth="2.4" />,
  close: <path d="m4 4 8 8M12 4l-8 8" />,
  plus: <path d="M8 3v10M3 8h10" />,
  minus: <path d="M3.5 8h9" />,
  flag: <path d="M4 14V2.5M4 3h7.5l-1.8 2.7 1.8 2.8H4" />,
  cordon: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M5 8h6" />
    </>
  ),
  tag: (
    <>
      <path d="M2.5 7.6V3.3c0-.4.4-.8.8-.8h4.3l5.7 5.7c.4.4.4 1 0 1.4l-3.7 3.7c-.4.4-1 .4-1.4 0z" />
      <circle cx="5.4" cy="5.4" r=".6" />
    </>
  ),
  upload: <path d="M8 10.5V2.8M4.8 5.6 8 2.5l3.2 3.1M2.5 10v2.2c0 .7.6 1.3 1.3 1.3h8.4c.7 0 1.3-.6 1.3-1.3V10" />,
  download: <path d="M8 2.8v7.7M4.8 7.7 8 10.8l3.2-3.1M2.5 10v2.2c0 .7.6 1.3 1.3 1.3h8.4c.7 0 1.3-.6 1.3-1.3V10" />,
  file: <path d="M4 2h5l3 3v9H4zM9 2v3h3" />,
  warning: <path d="M8 2 2.2 13h11.6zM8 6.3v3M8 11.2v.1" />,
  info: (
    <>
      <circle cx="8" cy="8" r="5.8" />
      <path d="M8 7.3v3.4M8 5.2v.1" />
    </>
  ),
  chevronDown: <path d="m4 6 4 4 4-4" />,
  chevronUp: <path d="m4 10 4-4 4 4" />,
  chevronRight: <path d="m6 4 4 4-4 4" />,
  chevronLeft: <path d="m10 4-4 4 4 4" />,
  back: <path d="M5.8 3.6 2.8 6.6l3 3M3 6.6h6.2a3.4 3.4 0 0 1 0 6.8H6" />,
  bolt: <path d="M8.8 1.8 3.6 9h3.6l-.8 5.2L12 7H8.2z" />,
  gang: (
    <>
      <circle cx="5.2" cy="5.5" r="2" />
      <circle cx="10.8" cy="5.5" r="2" />
      <path d="M1.8 12.8c.3-2.2 1.6-3.4 3.4-3.4s3 1.2 3.4 3.4M10.2 9.5c2 0 3.6 1.2 4 3.3" />
    </>
  ),
  trash: <path d="M3 4.5h10M6.2 4.5V2.8h3.6v1.7M4.4 4.5l.6 8.7h6l.6-8.7M6.8 7v3.8M9.2 7v3.8" />,
  sliders: <path d="M2.5 4.5h6M11.5 4.5h2M2.5 8h2M7.5 8h6M2.5 11.5h6M11.5 11.5h2M10 3v3M6 6.5v3M10 10v3" />,
  drag: <path d="M6 4h.01M6 8h.01M6 12h.01M10 4h.01M10 8h.01M10 12h.01" strokeWidth="1.8" />,
  node: (
    <>
      <rect x="2.5" y="3" width="11" height="4.2" rx="1" />
      <rect x="2.5" y="8.8" width="11" height="4.2" rx="1" />
      <path d="M5 5.1h.01M5 10.9h.01" strokeWidth="1.8" />
    </>
  ),
  eye: (
    <>
      <path d="M1.8 8c1.5-2.7 3.6-4 6.2-4s4.7 1.3 6.2 4c-1.5 2.7-3.6 4-6.2 4S3.3 10.7 1.8 8z" />
      <circle cx="8" cy="8" r="1.8" />
    </>
  ),
  person: (
    <>
      <circle cx="8" cy="5.3" r="2.4" />
      <path d="M3.4 13.4c.5-2.7 2.2-4.2 4.6-4.2s4.1 1.5 4.6 4.2" />
    </>
  ),
  fork: (
    <>
      <circle cx="4.5" cy="3.5" r="1.6" />
      <circle cx="11.5" cy="3.5" r="1.6" />
      <circle cx="8" cy="12.5" r="1.6" />
      <path d="M4.5 5.1v1.4c0 1 .8 1.8 1.8 1.8h3.4c1 0 1.8-.8 1.8-1.8V5.1M8 8.3v2.6" />
    </>
  ),
  rewind: (
    <>
      <path d="M12.5 3.5v9L6 8z" {...filled} strokeLinejoin="round" />
      <path d="M3.7 3.5v9" strokeWidth="1.8" />
    </>
  ),
  diamond: <path d="M8 2.5 13.5 8 8 13.5 2.5 8z" {...filled} />,
  dot: <circle cx="8" cy="8" r="4.5" {...filled} stroke="none" />,
  star: <path d="m8 2.2 1.8 3.7 4 .6-2.9 2.8.7 4L8 11.4l-3.6 1.9.7-4L2.2 6.5l4-.6z" />,
  menu: <path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />,
  command: <path d="m3 4.5 3.5 3.5L3 11.5M8.5 11.5H13" />,
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof PATHS;

interface IconProps {
  name: IconName;
  size?: number;
  className?: string | undefined;
}

export function Icon({ name, size = 16, className }: IconProps) {
  return (
    <svg
      className={className}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      style={{ flex: "none" }}
    >
      {PATHS[name]}
    </svg>
  );
}
