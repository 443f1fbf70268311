// Choose a person of the table, or enter one.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useSpeech } from "../language";
import { Latest } from "../latest";
import { complaintAbout, spoken } from "../problems";
import type { Cell, Column, Entered, Person, Source } from "../types";
import { Field } from "./field";
import { Chip, Failed } from "./parts";

const WAIT = 150;

export function Choose({ source, onChoose }: { source: Source; onChoose: (person: Person) => void }) {
  const { say } = useSpeech();
  return (
    <div class="choose">
      {source.offers.search && <Search source={source} onChoose={onChoose} />}
      {source.offers.asks && <Enter columns={source.columns} onChoose={onChoose} />}
      {!source.offers.search && !source.offers.asks && <p>{say("nobody")}</p>}
    </div>
  );
}

function Search({ source, onChoose }: { source: Source; onChoose: (person: Person) => void }) {
  const speech = useSpeech();
  const { say, format } = speech;
  const [wanted, setWanted] = useState("");
  const [found, setFound] = useState<{ people: Person[]; total: number } | null>(null);
  const [error, setError] = useState("");
  const latest = useMemo(() => new Latest<{ people: Person[]; total: number }>(WAIT), []);
  useEffect(() => {
    latest.ask(
      (signal) => source.find(wanted, signal),
      (people) => {
        setFound(people);
        setError("");
      },
      (failure) => setError(spoken(failure, speech)),
    );
    return () => latest.stop();
  }, [wanted, source]);
  const facts = source.columns.map((column, k) => ({ column, k })).slice(0, 4);
  return (
    <section class="panel" aria-labelledby="search">
      <h2 id="search">{say("choosePerson")}</h2>
      <label class="search">
        <span>{say("searchFor")}</span>
        <input type="search" autocomplete="off" spellcheck={false} value={wanted} onInput={(event) => setWanted(event.currentTarget.value)} />
      </label>
      <p role="status" class="quiet">
        {found && say("peopleFound", { n: found.total })}
        {found && found.people.length < found.total && ` ${say("firstShown", { n: found.people.length })}`}
      </p>
      {error && <Failed error={error} />}
      <ul class="people">
        {found?.people.map((person, k) => (
          <li key={`${person.id}-${k}`}>
            <button type="button" onClick={() => onChoose(person)}>
              <strong>
                <bdi>{person.id}</bdi>
              </strong>
              {person.accepted !== null && <Chip kind={person.accepted ? "yes" : "no"}>{say(person.accepted ? "accepted" : "refused")}</Chip>}
              <span class="quiet">
                {facts.map(({ column, k: place }) => (
                  <span key={column.name}>
                    <bdi>{column.title}</bdi> <bdi>{format.value(person.row[place] ?? null, column)}</bdi>
                  </span>
                ))}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Enter({ columns, onChoose }: { columns: Column[]; onChoose: (person: Person) => void }) {
  const { say } = useSpeech();
  const [row, setRow] = useState<Entered[]>(() => columns.map((column) => column.initial));
  const [id, setId] = useState("");
  const [wrong, setWrong] = useState("");
  const [tried, setTried] = useState(0);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus(), [tried]);
  const submit = (event: Event) => {
    event.preventDefault();
    const complaint = complaintAbout(columns, row, say);
    setWrong(complaint);
    if (complaint) setTried(tried + 1);
    else onChoose({ id: id.trim() || say("somebody"), row: row as Cell[], accepted: null, plans: null, notice: "" });
  };
  return (
    <section class="panel" aria-labelledby="enter">
      <h2 id="enter">{say("enterPerson")}</h2>
      <p>{say("enterLead")}</p>
      <form ref={form} onSubmit={submit} noValidate>
        <div class="fields">
          <div class="field">
            <label for="person-id">{say("idOfPerson")}</label>
            <input id="person-id" type="text" maxLength={200} autocomplete="off" value={id} onInput={(event) => setId(event.currentTarget.value)} />
          </div>
          {columns.map((column, k) => (
            <Field
              key={column.name}
              column={column}
              value={row[k]}
              today={row[k] ?? null}
              live
              tried={tried}
              onChange={(value) => setRow((now) => now.map((own, place) => (place === k ? value : own)))}
            />
          ))}
        </div>
        {wrong && <Failed error={wrong} />}
        <div class="actions">
          <button type="submit" class="main">
            {say("findPlans")}
          </button>
        </div>
      </form>
    </section>
  );
}
