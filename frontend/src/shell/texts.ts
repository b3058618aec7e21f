import { area } from "@/languages/area";
import english from "@/languages/en/shell.json";

export const { t, rich } = area("shell", english);
