/** Does a thing at once, and then for each key at most once in a while, the last time after the last call. */
export function atMostOften(milliseconds: number, act: (key: string) => void): (key: string) => void {
  const resting = new Map<string, boolean>();
  const begin = (key: string) => {
    act(key);
    resting.set(key, false);
    setTimeout(() => {
      const again = resting.get(key) === true;
      resting.delete(key);
      if (again) begin(key);
    }, milliseconds);
  };
  return (key) => {
    if (resting.has(key)) resting.set(key, true);
    else begin(key);
  };
}
