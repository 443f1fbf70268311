// A number that somebody types: the text stays as it is, and what was understood is said below it.

import { useEffect, useRef, useState } from "preact/hooks";
import { useSpeech } from "../language";
import type { Takes } from "../numbers";
import type { Column } from "../types";

interface Props {
  id: string;
  column: Column;
  /** The number that counts; undefined: what was typed is none. */
  value: number | null | undefined;
  takes: Takes;
  /** Which numbers are usual or possible, said at the field. */
  range?: string;
  /** What else there is to say about a number that was taken. */
  remark?: (value: number) => string;
  label?: string;
  describedBy?: string;
  needed?: boolean;
  /** Times that somebody wanted to go on: then it is said what is wrong, wherever they are. */
  tried?: number;
  /** Whether every sign that is typed is heard, and not only the whole text on leaving the field. */
  live?: boolean;
  onRead: (value: number | null | undefined) => void;
}

export function NumberField({ id, column, value, takes, range, remark, label, describedBy, needed, tried = 0, live, onRead }: Props) {
  const { say, format, language } = useSpeech();
  const [typing, setTyping] = useState<{ text: string; left: boolean; tried: number } | null>(null);
  // What was last said to whoever keeps the value: if theirs is another one, the text is no longer about it.
  const heard = useRef(value);
  const own = typing !== null && Object.is(heard.current, value) ? typing : null;
  const reading = own ? format.read(own.text, column, takes) : { value: value ?? null, wrong: null };
  const tell = (next: number | null | undefined) => {
    heard.current = next;
    if (!Object.is(next, value)) onRead(next);
  };
  const read = (text: string) => {
    const { value: number, wrong } = format.read(text, column, takes);
    tell(wrong ? undefined : number);
  };
  const leave = () => {
    if (!own || own.left) return;
    setTyping({ ...own, left: true });
    read(own.text);
  };
  // What is possible may depend on another field.
  useEffect(() => {
    if (own?.left) read(own.text);
  }, [takes.low, takes.high]);
  // Another language has other signs: what was understood is written in these, and what was not is read again.
  const spoken = useRef(language);
  useEffect(() => {
    if (spoken.current === language) return;
    spoken.current = language;
    if (own && heard.current !== undefined) setTyping(null);
    else if (own) read(own.text);
  }, [language]);

  const judged = own !== null && (own.left || own.tried !== tried);
  const missing = needed && reading.value === null && !reading.wrong && (judged || tried > 0);
  const wrong = judged ? reading.wrong : null;
  const told = (number: number) => format.value(number, column, true);
  const understood = judged && reading.value !== null ? say("understood", { value: told(reading.value) }) : "";
  const complaint = wrong
    ? say(wrong, {
        example: format.typed(takes.whole ? 1234 : 1234.5),
        low: takes.low === null ? "" : told(takes.low),
        high: takes.high === null ? "" : told(takes.high),
        among: (takes.among ?? []).map(told).join(", "),
      })
    : missing
      ? say("fillInThis")
      : "";
  const remarked = understood && !wrong && reading.value !== null ? remark?.(reading.value) : "";
  return (
    <>
      <input
        id={id}
        type="text"
        // Pads of digits have no minus sign.
        inputMode={(column.seen?.[0] ?? 0) < 0 ? "text" : "decimal"}
        autocomplete="off"
        spellcheck={false}
        value={own ? own.text : typeof value === "number" ? format.typed(value) : ""}
        aria-label={label}
        aria-invalid={complaint ? true : undefined}
        aria-describedby={[`${id}-said`, describedBy].filter(Boolean).join(" ")}
        aria-required={needed || undefined}
        onInput={(event) => {
          const text = event.currentTarget.value;
          if (!own) heard.current = value;
          setTyping({ text, left: false, tried });
          if (live) read(text);
        }}
        onBlur={leave}
        onKeyDown={(event) => event.key === "Enter" && leave()}
      />
      <p class="hint" id={`${id}-said`}>
        <span aria-live="polite">
          {understood} {complaint && <strong>{complaint}</strong>} {remarked}
        </span>{" "}
        {range && !remarked && <span>{range}</span>}
      </p>
    </>
  );
}
