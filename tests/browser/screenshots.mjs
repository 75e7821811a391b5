/** Take pictures of a report, by default of the tests' reports: `node screenshots.mjs FOLDER [REPORT.html]`. */
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
const A4 = { width: 718, height: 1050 }; // the area inside the margins
const LONGEST = 30_000; // pixels; Chromium takes no pictures of longer pages
const LOOKS = {
  light: { viewport: DESK, colorScheme: "light" },
  dark: { viewport: DESK, colorScheme: "dark" },
  print: { viewport: A4, colorScheme: "light" },
  phone: { viewport: PHONE, isMobile: true, hasTouch: true, deviceScaleFactor: 2 },
};

mkdirSync(folder, { recursive: true });
for (const [name, url] of Object.entries(shown)) {
  for (const [look, options] of Object.entries(LOOKS)) {
    // A new browser, because Chromium often fails to take a picture after a long page or a print.
    const browser = await launch();
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
