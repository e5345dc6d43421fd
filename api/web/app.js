"use strict";

const at = (id) => document.getElementById(id);
const token = () => sessionStorage.getItem("token");

/** Everything that comes from documents is set as text, never as markup. */
function element(tag, text = "", className = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

async function call(path, body, signal) {
  const headers = token() ? { Authorization: `Bearer ${token()}` } : {};
  const options = body === undefined
    ? { headers, signal }
    : { signal, method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(path, options);
  if (!response.ok) {
    const problem = await response.json().catch(() => ({}));
    throw new Error(problem.detail || `The server answered ${response.status}.`);
  }
  return response;
}

/** A link to the original. With a token it has to be fetched, because a plain link cannot carry one. */
function linkTo(locator, name) {
  const link = element("a", `${name}, ${locator.label}`);
  link.href = locator.url;
  link.target = "_blank";
  link.rel = "noopener";
  link.addEventListener("click", async (event) => {
    if (!token()) return;
    event.preventDefault();
    try {
      const [path, fragment] = locator.url.split("#");
      const content = await (await call(path)).blob();
      window.open(URL.createObjectURL(content) + (fragment ? `#${fragment}` : ""), "_blank");
    } catch (error) {
      at("notice").textContent = error.message;
    }
  });
  return link;
}

function showHits(hits, numbered) {
  at("hits").replaceChildren(...hits.map((hit) => {
    const item = element("li");
    const place = element("p", numbered ? `[${hit.number}] ` : "", "place");
    place.append(linkTo(hit.locator, hit.document.name), ` in ${hit.document.folder}`);
    if (hit.ocr_confidence !== null) place.append(` · read by OCR, ${Math.round(hit.ocr_confidence * 100)} % sure`);
    item.append(element("blockquote", hit.quote), place);
    return item;
  }));
}

/** A refusal is not the last word while documents are on their way. */
function notYet({ unfinished }) {
  if (!unfinished) return "";
  return ` ${unfinished} ${unfinished === 1 ? "document is" : "documents are"} not searchable yet and may answer it.`;
}

/** The server-sent events of a response, one after the other: name and content. */
async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (held + value).split("\n\n");
    held = blocks.pop();
    for (const block of blocks) {
      const [, name, content] = block.match(/^event: (.*)\ndata: (.*)$/s) || [];
      if (name) yield [name, JSON.parse(content)];
    }
  }
}

/** What the check of a written answer found. */
function flawsOf(given) {
  return [
    ...given.invalid_citations.map((number) => `Dropped, because no quote has this number: [${number}]`),
    ...given.uncited_sentences.map((sentence) => `Without a citation: ${sentence}`),
    ...given.unsupported_quotes.map((quote) => `In quotation marks, but not word for word in the quotes it cites: ${quote}`),
    ...(given.removed_links ? [`Links, pictures and tags taken out of the answer: ${given.removed_links}`] : []),
  ];
}

function showAnswer(given) {
  const written = given.mode === "written";
  at("written").textContent = written ? given.answer : "";
  at("flaws").replaceChildren(...flawsOf(given).map((flaw) => element("li", flaw)));
  at("notice").textContent = given.refused ? given.reason + notYet(given)
    : written ? "Written by a language model from the quotes below. Check them:"
      : (given.fallback ? `${given.fallback.message} ` : "") + "From the documents, word for word:";
  showHits(given.citations, true);
}

/** The quotes stand there at once, each sentence as soon as it is checked; the last event has the answer that counts. */
async function ask(question, folders, signal) {
  const response = await call("/v1/ask", { question, folders, stream: true }, signal);
  for await (const [name, content] of eventsOf(response)) {
    if (name === "sources") {
      at("notice").textContent = "A language model is writing from these quotes …";
      showHits(content.citations, true);
    } else if (name === "delta") {
      at("written").textContent += content.text;
    } else if (name === "answer") {
      showAnswer(content);
      return;
    } else if (name === "error") {
      at("written").textContent = "";
      throw new Error(content.detail);
    }
  }
  at("written").textContent = "";
  throw new Error("The answer broke off. Ask again.");
}

let asked = new AbortController();

async function answer(event) {
  event.preventDefault();
  asked.abort(); // whoever asks anew no longer waits for what was asked before
  asked = new AbortController();
  const { signal } = asked;
  const folders = at("folder").value ? [at("folder").value] : null;
  const text = at("text").value;
  at("notice").textContent = "Looking …";
  for (const name of ["hits", "flaws", "written"]) at(name).replaceChildren();
  try {
    if (event.submitter && event.submitter.value === "search") {
      const found = await (await call("/v1/search", { query: text, folders }, signal)).json();
      at("notice").textContent = found.answerable
        ? `${found.hits.length} passages`
        : (found.hits.length ? "Nothing answers this with certainty; these passages come closest." : "Nothing was found.")
          + notYet(found);
      showHits(found.hits, false);
    } else {
      await ask(text, folders, signal);
    }
  } catch (error) {
    if (!signal.aborted) at("notice").textContent = error.message;
  }
}

async function showFolders() {
  const { folders } = await (await call("/v1/folders")).json();
  at("folders").replaceChildren(...folders.map(({ name, states, documents, chunks }) => {
    const row = element("tr");
    const underWay = states.queued + states.running + states.retrying;
    for (const value of [name, documents, states.indexed, underWay, states.failed, chunks]) {
      row.append(element("td", String(value)));
    }
    return row;
  }));
  const chosen = at("folder").value;
  at("folder").replaceChildren(new Option("all folders", ""), ...folders.map(({ name }) => new Option(name, name)));
  at("folder").value = folders.some(({ name }) => name === chosen) ? chosen : "";
  return folders.reduce((sum, { states }) => sum + states.failed, 0);
}

async function showFailures(total) {
  at("failures-section").hidden = total === 0;
  if (total === 0) return;
  const { documents } = await (await call("/v1/documents?state=failed&limit=50")).json();
  at("failures-title").textContent = total > documents.length ? `Failures (50 of ${total})` : "Failures";
  at("failures").replaceChildren(...documents.map((failed) => {
    const row = element("tr");
    const again = element("button", "Try again", "quiet");
    again.addEventListener("click", async () => {
      again.disabled = true;
      await call(`/v1/documents/${failed.id}/retry`, {}).catch((error) => { at("notice").textContent = error.message; });
      await refresh();
    });
    const last = element("td");
    last.append(again);
    row.append(element("td", `${failed.folder}/${failed.path}`), element("td", failed.failure.message), last);
    return row;
  }));
}

async function refresh() {
  try {
    await showFailures(await showFolders());
  } catch (error) {
    at("notice").textContent = error.message;
  }
}

at("question").addEventListener("submit", answer);
at("token").addEventListener("click", () => {
  const given = window.prompt("The token, as `pincite token create` showed it:");
  if (given !== null) sessionStorage.setItem("token", given.trim());
  at("notice").textContent = "";
  refresh();
});
refresh();
setInterval(() => { if (!document.hidden && !document.activeElement.matches("#failures button, select")) refresh(); }, 5000);
