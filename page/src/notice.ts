// The applicant's page in a tab of its own. It inherits our policy, which allows no style in the page: the one that it brings is adopted instead.

export async function openNotice(fetched: () => Promise<string>): Promise<void> {
  // At once: a tab that opens after an answer has come is blocked.
  const tab = window.open("", "_blank");
  if (!tab) throw new Error("The browser did not allow a new tab.");
  try {
    const page = tab.document;
    const sheets: CSSStyleSheet[] = [];
    const html = (await fetched()).replace(/<style>([^<]*)<\/style>/g, (_, style: string) => {
      const sheet = new (tab as unknown as typeof globalThis).CSSStyleSheet();
      sheet.replaceSync(style);
      sheets.push(sheet);
      return "";
    });
    const notice = new DOMParser().parseFromString(html, "text/html");
    page.title = notice.title;
    page.documentElement.lang = notice.documentElement.lang;
    page.body.className = notice.body.className;
    page.body.replaceChildren(...[...notice.body.childNodes].map((node) => page.importNode(node, true)));
    page.adoptedStyleSheets = sheets;
    tab.focus();
    tab.print();
  } catch (error) {
    tab.close();
    throw error;
  }
}
