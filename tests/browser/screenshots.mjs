/** Pictures of a report, by default the tests' own, to look at: `node screenshots.mjs FOLDER [REPORT.html]`. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./chromium.mjs";
import { DESK, PHONE, open, reports } from "./page.mjs";

const [folder = "screenshots", file] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), "slackwater-reports-"));
const shown = file
  ? { report: pathToFileURL(resolve(file)).href }
  : Object.fromEntries(
      Object.entries(reports(work, "people", "nothing", "blind")).map(([name, { url }]) => [name, url]),
    );
const A4 = { width: 718, height: 1050 }; // what the margins leave of it
const LONGEST = 30_000; // pixels: of longer pages Chromium takes no picture
const LOOKS = {
  light: { viewport: DESK, colorScheme: "light" },
  dark: { viewport: DESK, colorScheme: "dark" },
  print: { viewport: A4, colorScheme: "light" },
  phone: { viewport: PHONE, isMobile: true, hasTouch: true, deviceScaleFactor: 2 },
};

mkdirSync(folder, { recursive: true });
for (const [name, url] of Object.entries(shown)) {
  for (const [look, options] of Object.entries(LOOKS)) {
    const browser = await launch(); // a new one: after a long page or a print, Chromium often fails to take a picture
    const { page } = await open(browser, url, options);
    if (look === "print") {
      await page.pdf({ path: join(folder, `${name}.pdf`), format: "A4" });
      await page.emulateMedia({ media: "print" });
    }
    const to = (part) => join(folder, `${name}-${look}${part}`);
    await page.screenshot({ path: to(".png") });
    const drawn = page.locator("[data-finding]:has(.spark)").first();
    if (look !== "print" && (await drawn.count())) {
      await drawn.locator("[data-toggle]").click();
      await drawn.screenshot({ path: to("-opened.png") });
    }
    const height = await page.evaluate(() => document.documentElement.scrollHeight * devicePixelRatio);
    if (height < LONGEST) await page.screenshot({ path: to("-whole.png"), fullPage: true });
    await browser.close();
  }
}
rmSync(work, { recursive: true });
console.log(`Pictures are in ${resolve(folder)}`);
