import { area } from "@/languages/area";
import english from "@/languages/en/pod.json";

export const { t, rich } = area("pod", english);
