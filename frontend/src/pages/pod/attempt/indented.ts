const WIDTH = 2;

/** JSON over lines, also where its end is cut off. No value is read: numbers stay as they were sent. Other text stays. */
export function indented(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  let out = "";
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const one = text.charAt(at);
    if (inString) {
      out += one;
      if (one === "\\") out += text.charAt(++at);
      else if (one === '"') inString = false;
    } else if (one === '"') {
      out += one;
      inString = true;
    } else if (one === "{" || one === "[") {
      const empty = /^\s*[\]}]/.exec(text.slice(at + 1, at + 40));
      if (empty !== null) {
        out += one + empty[0].trim();
        at += empty[0].length;
      } else out += one + line(++depth);
    } else if (one === "}" || one === "]") out += line(--depth) + one;
    else if (one === ",") out += one + line(depth);
    else if (one === ":") out += ": ";
    else if (!/\s/.test(one)) out += one;
  }
  return out;
}

function line(depth: number): string {
  return `\n${" ".repeat(WIDTH * Math.max(0, depth))}`;
}
