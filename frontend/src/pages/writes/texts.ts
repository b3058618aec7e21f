import { area } from "@/languages/area";
import english from "@/languages/en/writes.json";

export const { t, rich } = area("writes", english);
