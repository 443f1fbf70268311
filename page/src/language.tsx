// The language of the page: words with places for values, and numbers in its signs.

import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import { Format } from "./format";
import { LANGUAGES, type Key, type Language, type Words } from "./words";

export interface Speech {
  language: Language;
  format: Format;
  /** A text; the number `n` chooses between one and several. */
  say(key: Key, values?: Record<string, string | number>): string;
  /** The same with elements in its places. */
  rich(key: Key, values: Record<string, ComponentChildren>): ComponentChildren;
}

export function speech(language: Language, locale: string): Speech {
  const words: Words = LANGUAGES[language];
  const format = new Format(locale, {
    missing: words.missing,
    yes: words.yes,
    no: words.no,
    empty: words.empty,
    about: words.about,
    infinite: words.infinite,
  });
  const plural = new Intl.PluralRules(language);
  const template = (key: Key, n: unknown): string => {
    const several = typeof n === "number" && plural.select(n) !== "one" ? (words as Record<string, string>)[`${key}_many`] : undefined;
    return several ?? words[key] ?? "";
  };
  return {
    language,
    format,
    say: (key, values = {}) =>
      template(key, values["n"]).replace(/\{(\w+)\}/g, (_, name: string) => {
        const value = values[name];
        return typeof value === "number" ? format.count(value) : (value ?? "");
      }),
    rich: (key, values) =>
      template(key, values["n"])
        .split(/\{(\w+)\}/)
        .map((part, k) => (k % 2 ? (typeof values[part] === "number" ? format.count(values[part] as number) : values[part]) : part)),
  };
}

/** The language to begin with, and whose signs numbers have: those of whoever reads. */
export function preferred(chosen: Language | null, wanted: readonly string[] = navigator.languages): { language: Language; locale: string } {
  const known = wanted.find((tag) => tag.slice(0, 2).toLowerCase() in LANGUAGES);
  const language = chosen ?? ((known?.slice(0, 2).toLowerCase() as Language | undefined) ?? "en");
  const locale = wanted.find((tag) => tag.slice(0, 2).toLowerCase() === language) ?? language;
  // With no language of theirs on the page, at least the numbers are.
  return { language, locale: chosen === null && !known && wanted[0] ? wanted[0] : locale };
}

export const Spoken = createContext<Speech>(speech("en", "en"));
export function useSpeech(): Speech {
  return useContext(Spoken);
}
