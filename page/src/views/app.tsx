// The page: one person or everybody, and the language it speaks.

import { useEffect, useMemo, useState } from "preact/hooks";
import { Spoken, preferred, speech, useSpeech } from "../language";
import { spoken } from "../problems";
import { type Connection, Problem, served } from "../sources/service";
import { opened } from "../sources/still";
import type { Json } from "../sources/reading";
import type { Person, Source } from "../types";
import { LANGUAGES, type Language } from "../words";
import { Choose } from "./choose";
import { Everybody, LOOK, type Looked } from "./everybody";
import { CheckReceipt, type Kept } from "./keep";
import { Failed } from "./parts";
import { OnePerson } from "./person";

type View = "person" | "everybody";

/** The page shows data that are there, or connects to the service that serves it. */
export function App({ data, connection }: { data: Source | null; connection: Connection | null }) {
  const [language, setLanguage] = useState<Language | null>(null);
  const spokenNow = useMemo(() => {
    const { language: chosen, locale } = preferred(language);
    return speech(chosen, locale);
  }, [language]);
  const { say } = spokenNow;
  const [source, setSource] = useState<Source | null>(data);
  const [view, setView] = useState<View>(viewOf(location.hash));
  const [person, setPerson] = useState<Person | null>(null);
  const [kept, setKept] = useState<Kept[]>([]);
  const [looked, setLooked] = useState<Looked>(LOOK);
  const [error, setError] = useState("");
  const [locked, setLocked] = useState(false);

  const connect = () => {
    if (!connection) return;
    setError("");
    served(connection).then(
      (now) => {
        setSource(now);
        setLocked(false);
      },
      (failure: unknown) => {
        const wanted = failure instanceof Problem && failure.status === 401;
        setLocked(wanted);
        setError(wanted && !connection.token ? "" : spoken(failure, spokenNow));
      },
    );
  };
  useEffect(connect, []);
  useEffect(() => {
    const follow = () => setView(viewOf(location.hash));
    window.addEventListener("hashchange", follow);
    return () => window.removeEventListener("hashchange", follow);
  }, []);
  useEffect(() => {
    document.documentElement.lang = spokenNow.language;
    document.title = source?.title || say("title");
  }, [spokenNow, source]);

  const go = (next: View) => {
    location.hash = next === "everybody" ? "everybody" : "";
    setView(next);
  };
  const open = async (file: File | undefined) => {
    if (!file) return;
    try {
      const result = opened(JSON.parse(await file.text()) as Json, file.name);
      if (!result) throw new SyntaxError();
      setSource(result);
      setLooked(LOOK);
      setPerson(null);
      setKept([]);
      setError("");
      go("everybody");
    } catch {
      setError(say("noResult", { file: file.name }));
    }
  };

  return (
    <Spoken.Provider value={spokenNow}>
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), document.getElementById("main")?.focus())}>
        {say("skip")}
      </a>
      <header class="top">
        <p class="title">{source?.title || say("title")}</p>
        <nav aria-label={say("views")}>
          {(["person", "everybody"] as const).map((each) => (
            <a
              key={each}
              href={each === "everybody" ? "#everybody" : "#"}
              aria-current={view === each ? "page" : undefined}
              onClick={(event) => {
                event.preventDefault();
                go(each);
              }}
            >
              {say(each === "everybody" ? "everybody" : "onePerson")}
            </a>
          ))}
        </nav>
        <label class="language">
          <span class="hidden">{say("language")}</span>
          <select value={spokenNow.language} onChange={(event) => setLanguage(event.currentTarget.value as Language)}>
            {(Object.keys(LANGUAGES) as Language[]).map((each) => (
              <option key={each} value={each} lang={each}>
                {LANGUAGES[each].ownName}
              </option>
            ))}
          </select>
        </label>
      </header>
      <main id="main" tabIndex={-1}>
        {error && <Failed error={error} {...(connection && !source ? { retry: connect } : {})} />}
        {locked && connection && (
          <Locked
            onToken={(token) => {
              connection.token = token;
              connect();
            }}
          />
        )}
        {!source && !error && !locked && <p role="status">{say("loading")}</p>}
        {source && view === "everybody" && (
          <Everybody
            source={source}
            looked={looked}
            onLook={(some) => setLooked((now) => ({ ...now, ...some }))}
            onChoose={(chosen) => {
              setPerson(chosen);
              go("person");
            }}
          />
        )}
        {source && view === "person" && person && (
          <OnePerson key={person.id} person={person} source={source} kept={kept} onKeep={setKept} onBack={() => setPerson(null)} />
        )}
        {source && view === "person" && !person && (
          <>
            <header class="who">
              <h1>{source.title || say("title")}</h1>
              <p>{say("lead")}</p>
              {source.when && <p class="quiet">{say("asOf", { day: spokenNow.format.day(source.when) })}</p>}
            </header>
            <Choose source={source} onChoose={setPerson} />
            {source.offers.ledger && <CheckReceipt source={source} />}
          </>
        )}
      </main>
      <footer class="bottom">
        <label class="button file">
          {say("openResult")}
          <input type="file" class="hidden" accept=".json,application/json" onChange={(event) => {
              void open(event.currentTarget.files?.[0]);
              event.currentTarget.value = ""; // the same file may be opened again
            }} />
        </label>
        <p class="quiet">{say("nothingOutside")}</p>
      </footer>
    </Spoken.Provider>
  );
}

function viewOf(hash: string): View {
  return hash === "#everybody" ? "everybody" : "person";
}

function Locked({ onToken }: { onToken: (token: string) => void }) {
  const [token, setToken] = useState("");
  const { say } = useSpeech();
  return (
    <form
      class="panel promise"
      onSubmit={(event) => {
        event.preventDefault();
        onToken(token.trim());
      }}
    >
      <label>
        <span>{say("token")}</span>
        <input type="password" required autocomplete="off" value={token} onInput={(event) => setToken(event.currentTarget.value)} />
      </label>
      <button type="submit" class="main">
        {say("signIn")}
      </button>
    </form>
  );
}
